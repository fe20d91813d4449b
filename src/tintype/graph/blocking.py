"""Blocks: the truth with the blocker, its mirror with the blocked, and the severing of what was between the two.

Each side ends its own follow, because the truth of a follow is with the follower. A block that reaches the other side
only after it has been lifted still severs there: a lifted block does not bring followers back.
"""

from tintype.accounts import AccountNotFound
from tintype.base.ids import AccountId, has_shard
from tintype.base.limits import Rule
from tintype.base.log import get_log
from tintype.graph.errors import CannotBeYourself
from tintype.graph.events import BlockChanged
from tintype.graph.following import Follows
from tintype.graph.mirroring import AWAY, Change, Mirror
from tintype.graph.store import QUERIES, AtDesk, Desk

CHURN = Rule("block", 300, 3600)
log = get_log("graph")


class Blocks(AtDesk):
    """Who has blocked whom."""

    def __init__(self, desk: Desk, mirror: Mirror, follows: Follows) -> None:
        super().__init__(desk)
        self._mirror, self._follows = mirror, follows

    async def block(self, blocker: AccountId, blocked: AccountId) -> None:
        """Sever both ways and hide each from the other, at once."""
        if blocker == blocked:
            raise CannotBeYourself
        await self._limiter.take(CHURN, blocker)
        if not (await self._accounts.get(blocked)).is_active:
            raise AccountNotFound
        async with self._shards.owner(blocker).begin() as tx:
            await tx.fetch_one(QUERIES.lock_account, account_id=blocker)
            standing = await tx.fetch_one(QUERIES.relations, viewer_id=blocker, others=[blocked])
            if standing is None or (standing["is_blocked"] and not standing["blocks"]):
                raise AccountNotFound
            change_id = await tx.fetch_value(QUERIES.add_block, account_id=blocker, blocked_id=blocked)
            if change_id is None:
                return
            ended = await self._follows.end_in(tx, blocker, blocked)
            await tx.execute(QUERIES.drop_follower, account_id=blocker, follower_id=blocked)
            await tx.execute(QUERIES.end_attitude, account_id=blocker, target_id=blocked)
            change = BlockChanged(blocker, blocked, change_id, is_blocked=True, severs_id=change_id)
            await self._outbox.add(tx, change, *([ended] if ended else []))
            self._ties.change_with(tx, blocker)
        await self._settle(change)
        if ended:
            await self._mirror.settle(ended)
        log.info("block.changed", blocker_id=blocker, blocked_id=blocked, is_blocked=True)

    async def unblock(self, blocker: AccountId, blocked: AccountId) -> bool:
        """Let them see each other again; whoever followed has to ask anew. Returns whether there was a block."""
        if not has_shard(self._shards, blocker):
            return False
        async with self._shards.owner(blocker).begin() as tx:
            await tx.fetch_one(QUERIES.lock_account, account_id=blocker)
            row = await tx.fetch_one(QUERIES.remove_block, account_id=blocker, blocked_id=blocked)
            if row is None:
                return False
            change = BlockChanged(
                blocker, blocked, row["change_id"], is_blocked=False, severs_id=row["severs_id"]
            )
            await self._outbox.add(tx, change)
            self._ties.change_with(tx, blocker)
        await self._settle(change)
        log.info("block.changed", blocker_id=blocker, blocked_id=blocked, is_blocked=False)
        return True

    async def apply(self, change: BlockChanged) -> None:
        """Bring the blocked one's side in line; safe to repeat and to reorder."""
        if self._mirror.is_old(change.change_id) and not await self._is_true(change):
            return
        ended = await self._write(change)
        await self._accounts.forget(change.blocker_id, change.blocked_id)
        await self._ties.changed(change.blocker_id, change.blocked_id)
        if ended:
            await self._mirror.settle(ended)

    async def _write(self, change: BlockChanged) -> Change | None:
        blocked, blocker = change.blocked_id, change.blocker_id
        ended = None
        async with self._shards.owner(blocked).begin() as tx:
            if await tx.fetch_one(QUERIES.lock_account, account_id=blocked) is None:
                return None
            known = await tx.fetch_one(QUERIES.find_blocked_by, account_id=blocked, blocker_id=blocker)
            if known is None or known["severed_id"] < change.severs_id:
                ended = await self._follows.end_in(tx, blocked, blocker)
                await tx.execute(QUERIES.end_attitude, account_id=blocked, target_id=blocker)
            await tx.execute(
                QUERIES.mirror_block,
                account_id=blocked,
                blocker_id=blocker,
                change_id=change.change_id,
                is_active=change.is_blocked,
                severed_id=change.severs_id,
            )
            if ended:
                await self._outbox.add(tx, ended)
        return ended

    async def _is_true(self, change: BlockChanged) -> bool:
        """Whether an event that was late by days still tells how things are."""
        found = await self._shards.owner(change.blocker_id).fetch_value(
            QUERIES.find_block, account_id=change.blocker_id, blocked_id=change.blocked_id
        )
        return found == change.change_id if change.is_blocked else found is None

    async def _settle(self, change: BlockChanged) -> None:
        try:
            await self.apply(change)
        except AWAY as error:
            log.warning("mirror.postponed", blocked_id=change.blocked_id, error=str(error))
            await self._accounts.forget(change.blocker_id)
