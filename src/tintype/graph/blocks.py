"""Blocks: the truth with the blocker (`blocks`), a mirror with the blocked (`blocked_by`).

A block severs the follows between the two. Each side ends its own follow, because the truth of a follow is with the
follower. A block that reaches the other side only after it was lifted still severs there: lifting a block does not
bring followers back.
"""

from tintype.accounts import AccountNotFound
from tintype.base.ids import AccountId, has_shard
from tintype.base.listeners import Listeners
from tintype.base.log import get_log
from tintype.base.rate_limits import BLOCK
from tintype.graph.dependencies import GraphDependencies
from tintype.graph.errors import CannotBeYourself
from tintype.graph.events import BlockChanged
from tintype.graph.follower_mirror import UNAVAILABLE, Change, FollowerMirror
from tintype.graph.follows import Follows
from tintype.graph.store import QUERIES

log = get_log("graph")


class Blocks:
    """Blocks and unblocks people."""

    def __init__(self, deps: GraphDependencies, mirror: FollowerMirror, follows: Follows) -> None:
        self._deps, self._shards, self._mirror, self._follows = deps, deps.shards, mirror, follows
        self.changed: Listeners[BlockChanged] = Listeners()

    async def block(self, blocker: AccountId, blocked: AccountId) -> None:
        """Hide two people from each other and end the follows between them, at once.

        Whoever is blocked can block back: the block stays when the other one is lifted.
        """
        if blocker == blocked:
            raise CannotBeYourself
        await self._deps.limiter.acquire(BLOCK, blocker)
        if not (await self._deps.accounts.get(blocked, with_counts=False)).is_active:
            raise AccountNotFound
        async with self._shards.owner(blocker).begin() as tx:
            await self._deps.accounts.lock(tx, blocker)
            change_id = await tx.fetch_value(QUERIES.add_block, account_id=blocker, blocked_id=blocked)
            if change_id is None:
                return
            ended = await self._follows.end_in(tx, blocker, blocked)
            await self._deps.follow_rows.drop_follower(tx, blocker, blocked)
            await tx.execute(QUERIES.delete_preference, account_id=blocker, target_id=blocked)
            await self._deps.accounts.touch(tx, blocker)
            change = BlockChanged(blocker, blocked, change_id, is_blocked=True, severs_id=change_id)
            await self._deps.outbox.add(tx, change, *([ended] if ended else []))
            self._deps.viewer_invalidation.invalidate_after_commit(tx, blocker)
        await self._apply_at_once(change)
        if ended:
            await self._mirror.apply_at_once(ended)
        await self.changed.notify(change)
        log.info("block.changed", blocker_id=blocker, blocked_id=blocked, is_blocked=True)

    async def unblock(self, blocker: AccountId, blocked: AccountId) -> bool:
        """Let two people see each other again; earlier follows do not come back. Returns whether there was a block."""
        if not has_shard(self._shards, blocker):
            return False
        async with self._shards.owner(blocker).begin() as tx:
            await self._deps.accounts.lock(tx, blocker)
            row = await tx.fetch_one(QUERIES.remove_block, account_id=blocker, blocked_id=blocked)
            if row is None:
                return False
            change = BlockChanged(
                blocker, blocked, row["change_id"], is_blocked=False, severs_id=row["severs_id"]
            )
            await self._deps.outbox.add(tx, change)
            self._deps.viewer_invalidation.invalidate_after_commit(tx, blocker)
        await self._apply_at_once(change)
        await self.changed.notify(change)
        log.info("block.changed", blocker_id=blocker, blocked_id=blocked, is_blocked=False)
        return True

    async def apply(self, change: BlockChanged) -> None:
        """Apply a change to the blocked one's side; idempotent, in any order."""
        if self._mirror.is_old(change.change_id) and not await self._is_true(change):
            return
        ended = await self._write(change)
        await self._deps.accounts.invalidate_counts(change.blocker_id, change.blocked_id)
        await self._deps.viewer_invalidation.invalidate(change.blocker_id, change.blocked_id)
        if ended:
            await self._mirror.apply_at_once(ended)

    async def _write(self, change: BlockChanged) -> Change | None:
        blocked, blocker = change.blocked_id, change.blocker_id
        ended = None
        async with self._shards.owner(blocked).begin() as tx:
            if await self._deps.accounts.lock(tx, blocked) is None:
                return None
            known = await tx.fetch_one(QUERIES.find_blocked_by, account_id=blocked, blocker_id=blocker)
            if known is None or known["severed_id"] < change.severs_id:
                ended = await self._follows.end_in(tx, blocked, blocker)
                await tx.execute(QUERIES.delete_preference, account_id=blocked, target_id=blocker)
            await tx.execute(
                QUERIES.mirror_block,
                account_id=blocked,
                blocker_id=blocker,
                change_id=change.change_id,
                is_active=change.is_blocked,
                severed_id=change.severs_id,
            )
            await self._deps.accounts.touch(tx, blocked)
            if ended:
                await self._deps.outbox.add(tx, ended)
        return ended

    async def _is_true(self, change: BlockChanged) -> bool:
        """Whether an event that is days old still agrees with the blocker's side."""
        found = await self._shards.owner(change.blocker_id).fetch_value(
            QUERIES.find_block, account_id=change.blocker_id, blocked_id=change.blocked_id
        )
        return found == change.change_id if change.is_blocked else found is None

    async def _apply_at_once(self, change: BlockChanged) -> None:
        try:
            await self.apply(change)
        except UNAVAILABLE as error:
            log.warning("mirror.postponed", blocked_id=change.blocked_id, error=str(error))
            await self._deps.accounts.invalidate_counts(change.blocker_id)
