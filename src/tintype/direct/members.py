"""Groups: who is in them, who is their admin, their name, and how long messages stay."""

from collections.abc import Sequence

from shardwright.routing import Shard, Transaction
from tintype.accounts import AccountNotFound
from tintype.base.ids import AccountId, has_shard
from tintype.base.log import get_log
from tintype.base.rate_limits import DIRECT_CONTACT
from tintype.direct.contact import Contact
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.errors import LifetimeInvalid, MemberNotFound, NotAGroup, ThreadNotFound, TooManyMembers
from tintype.direct.inbox_feeder import InboxFeeder
from tintype.direct.models import MAX_MEMBERS, MemberState, ThreadId
from tintype.direct.store import QUERIES
from tintype.direct.thread_rows import (
    IN_THREAD,
    add_members,
    announce,
    check_plain,
    clean_name,
    lock_as_admin,
    lock_as_member,
)

SHORTEST_LIFETIME_S, LONGEST_LIFETIME_S = 60, 28 * 86_400
log = get_log("direct")


class Members:
    """Changes groups and their members."""

    def __init__(self, deps: DirectDependencies, contact: Contact, feeder: InboxFeeder) -> None:
        self._shards, self._outbox, self._limiter = deps.shards, deps.outbox, deps.limiter
        self._contact, self._feeder = contact, feeder

    async def add(self, thread_id: ThreadId, by: AccountId, account_ids: Sequence[AccountId]) -> None:
        """Add people to a group, as an admin; those who are in it already stay as they are."""
        shard, wanted = self._shard_of(thread_id), list(dict.fromkeys(account_ids))
        if len(wanted) > MAX_MEMBERS:
            raise TooManyMembers
        if not all(has_shard(self._shards, each) for each in wanted):
            raise AccountNotFound
        async with shard.begin() as tx:
            check_plain(await lock_as_admin(tx, thread_id, by))  # before anything is said about the people
        await self._limiter.acquire(DIRECT_CONTACT, by)
        judged = await self._contact.judge(by, wanted)
        if len(judged) < len(wanted):
            raise AccountNotFound
        async with shard.begin() as tx:
            thread = await lock_as_admin(tx, thread_id, by)
            if await add_members(tx, thread_id, judged, number=thread["last_number"]):
                if await tx.fetch_value(QUERIES.count_members, thread_id=thread_id) > MAX_MEMBERS:
                    raise TooManyMembers
                await announce(tx, self._outbox, thread_id)
        await self._feeder.feed_at_once(thread_id)
        log.info("thread.joined", thread_id=thread_id, count=len(judged))

    async def remove(self, thread_id: ThreadId, by: AccountId, account_id: AccountId) -> None:
        """Remove somebody from a group as an admin, or leave it oneself."""
        async with self._shard_of(thread_id).begin() as tx:
            if by == account_id:
                thread, _ = await lock_as_member(tx, thread_id, by)
                if thread["kind"] != "group":
                    raise NotAGroup
            else:
                check_plain(await lock_as_admin(tx, thread_id, by))
                await _check_in(tx, thread_id, account_id)
            await end_membership(tx, thread_id, account_id, "left" if by == account_id else "removed")
            await announce(tx, self._outbox, thread_id, gone=(account_id,))
        await self._feeder.feed_at_once(thread_id)
        log.info("thread.left", thread_id=thread_id, is_removed=by != account_id)

    async def set_admin(
        self, thread_id: ThreadId, by: AccountId, account_id: AccountId, *, is_admin: bool
    ) -> None:
        """Make a member an admin, or no longer one. A group always has one: the last gets an heir."""
        async with self._shard_of(thread_id).begin() as tx:
            await lock_as_admin(tx, thread_id, by)
            await _check_in(tx, thread_id, account_id)
            await tx.execute(QUERIES.set_admin, thread_id=thread_id, account_id=account_id, is_admin=is_admin)
            await _appoint_heir(tx, thread_id)
            await announce(tx, self._outbox, thread_id)
        await self._feeder.feed_at_once(thread_id)

    async def change(
        self,
        thread_id: ThreadId,
        by: AccountId,
        *,
        name: str | None,
        disappear_s: int | None,
        after_seen: bool | None,
    ) -> None:
        """Name a group, as an admin; let new messages of a thread disappear after a time (0: stay), as any member.

        The time counts from when they were sent, or from when everybody else has seen them.
        """
        if disappear_s and not SHORTEST_LIFETIME_S <= disappear_s <= LONGEST_LIFETIME_S:
            raise LifetimeInvalid
        async with self._shard_of(thread_id).begin() as tx:
            if name is None:
                await lock_as_member(tx, thread_id, by)
            else:
                await lock_as_admin(tx, thread_id, by)
            await tx.execute(
                QUERIES.change_thread,
                thread_id=thread_id,
                name=None if name is None else clean_name(name),
                disappear_s=disappear_s,
                after_seen=after_seen,
            )
            await announce(tx, self._outbox, thread_id)
        await self._feeder.feed_at_once(thread_id)

    def _shard_of(self, thread_id: ThreadId) -> Shard:
        if not has_shard(self._shards, thread_id):
            raise ThreadNotFound
        return self._shards.owner(thread_id)


async def end_membership(
    tx: Transaction, thread_id: ThreadId, account_id: AccountId, state: MemberState
) -> None:
    """Somebody is not in the group any more; if they were its last admin, another one becomes it."""
    await tx.execute(QUERIES.set_member_state, thread_id=thread_id, account_id=account_id, state=state)
    await _appoint_heir(tx, thread_id)


async def _check_in(tx: Transaction, thread_id: ThreadId, account_id: AccountId) -> None:
    member = await tx.fetch_one(QUERIES.lock_member, thread_id=thread_id, account_id=account_id)
    if member is None or member["state"] not in IN_THREAD:
        raise MemberNotFound


async def _appoint_heir(tx: Transaction, thread_id: ThreadId) -> None:
    heir = await tx.fetch_value(QUERIES.find_heir, thread_id=thread_id)
    if heir is not None:
        await tx.execute(QUERIES.set_admin, thread_id=thread_id, account_id=heir, is_admin=True)
