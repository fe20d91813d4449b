"""Beginning threads: the one of two people, and groups.

The shard of a thread follows from who begins it: a pair's from the two ids, a group's from its creator and the local id
they gave it. So whoever asks again, from wherever and at the same time, comes to the same shard and finds the same row.
"""

from collections.abc import Sequence

from shardwright.routing import Shard
from tintype.accounts import AccountNotFound
from tintype.base.ids import AccountId, has_shard
from tintype.base.log import get_log
from tintype.base.rate_limits import DIRECT_CONTACT
from tintype.direct.contact import Contact
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.encryption.devices import Devices
from tintype.direct.encryption.errors import EncryptionUnavailable
from tintype.direct.encryption.group_rows import begin_group
from tintype.direct.encryption.models import DeviceId, MemberDevice
from tintype.direct.errors import ThreadInvalid, TooManyMembers
from tintype.direct.inbox_feeder import InboxFeeder
from tintype.direct.models import MAX_MEMBERS, MemberState, ThreadId
from tintype.direct.mutations import check_local_id
from tintype.direct.requests import accept_in
from tintype.direct.store import QUERIES
from tintype.direct.thread_rows import add_members, announce, clean_name, pair_shard

log = get_log("direct")


class Threads:
    """Begins threads."""

    def __init__(
        self, deps: DirectDependencies, contact: Contact, feeder: InboxFeeder, devices: Devices
    ) -> None:
        self._shards, self._outbox, self._limiter = deps.shards, deps.outbox, deps.limiter
        self._visibility, self._contact, self._feeder = deps.visibility, contact, feeder
        self._devices = devices

    async def open_pair(
        self, by: AccountId, other: AccountId, *, device_id: DeviceId | None = None, is_counted: bool = True
    ) -> ThreadId:
        """The thread of two people, which is begun if there is none: exactly one, whoever asks and however often.

        With a device it is the encrypted one of the two, which has that device as its first leaf.
        `is_counted`: a new one counts towards the limit of new conversations.
        """
        if other == by or not has_shard(self._shards, other):
            raise ThreadInvalid if other == by else AccountNotFound
        await self._visibility.get_account(by, other)
        low, high = sorted((by, other))
        shard = pair_shard(self._shards, low, high)
        found = await shard.fetch_one(
            QUERIES.find_pair,
            low_id=low,
            high_id=high,
            account_id=by,
            is_encrypted=device_id is not None,
        )
        if found is not None:
            return await self._return_to(shard, ThreadId(found["id"]), by, found["state"])
        if is_counted:
            await self._limiter.acquire(DIRECT_CONTACT, by)
        state = (await self._contact.judge(by, [other])).get(other)
        if state is None:
            raise AccountNotFound
        device = await self._find_device(by, [other], device_id)
        return await self._add_pair(shard, by, other, state, device)

    async def create_group(
        self,
        by: AccountId,
        others: Sequence[AccountId],
        *,
        name: str,
        local_id: str,
        device_id: DeviceId | None = None,
    ) -> ThreadId:
        """Begin a group, once however often a device sends the same local id; with a device, an encrypted one."""
        check_local_id(local_id)
        name = clean_name(name)
        wanted = [each for each in dict.fromkeys(others) if each != by]
        if not wanted:
            raise ThreadInvalid
        if len(wanted) >= MAX_MEMBERS:
            raise TooManyMembers
        shard = self._shards.of(f"group:{by}:{local_id}")
        found = await shard.fetch_value(QUERIES.find_group, created_by=by, local_id=local_id)
        if found is not None:
            return ThreadId(found)
        if not all(has_shard(self._shards, each) for each in wanted):
            raise AccountNotFound
        await self._limiter.acquire(DIRECT_CONTACT, by)
        judged = await self._contact.judge(by, wanted)
        if len(judged) < len(wanted):
            raise AccountNotFound
        device = await self._find_device(by, wanted, device_id)
        return await self._add_group(shard, by, judged, name=name, local_id=local_id, device=device)

    async def _find_device(
        self, by: AccountId, others: Sequence[AccountId], device_id: DeviceId | None
    ) -> MemberDevice | None:
        """The device that an encrypted thread begins on; refused where one of the others has none to read it."""
        if device_id is None:
            return None
        device = await self._devices.get(by, device_id)
        equipped = {each.account_id for each in await self._devices.list_of(others)}
        if not equipped >= set(others):
            raise EncryptionUnavailable
        return device

    async def _return_to(
        self, shard: Shard, thread_id: ThreadId, by: AccountId, state: MemberState
    ) -> ThreadId:
        """A thread that exists; who has declined it and writes now, after all, accepts it."""
        if state == "declined":
            async with shard.begin() as tx:
                await tx.fetch_one(QUERIES.lock_thread, thread_id=thread_id)
                await accept_in(tx, self._outbox, thread_id, by)
            await self._feeder.feed_at_once(thread_id)
        return thread_id

    async def _add_pair(
        self, shard: Shard, by: AccountId, other: AccountId, state: MemberState, device: MemberDevice | None
    ) -> ThreadId:
        low, high = sorted((by, other))
        async with shard.begin() as tx:
            pair = {"low_id": low, "high_id": high, "is_encrypted": device is not None}
            pending_id = other if state == "requested" else None
            added = await tx.fetch_value(QUERIES.add_pair, **pair, created_by=by, pending_id=pending_id)
            if added is None:
                return ThreadId(await tx.fetch_value(QUERIES.find_pair, **pair, account_id=by))
            thread_id = ThreadId(added)
            if device is not None:
                await begin_group(tx, thread_id, device)
            await add_members(tx, thread_id, {by: "active", other: state}, number=0)
            await announce(tx, self._outbox, thread_id)
        await self._feeder.feed_at_once(thread_id)
        log.info("thread.created", thread_id=thread_id, kind="pair", shard=shard.number)
        return thread_id

    async def _add_group(
        self,
        shard: Shard,
        by: AccountId,
        judged: dict[AccountId, MemberState],
        *,
        name: str,
        local_id: str,
        device: MemberDevice | None,
    ) -> ThreadId:
        async with shard.begin() as tx:
            added = await tx.fetch_value(
                QUERIES.add_group,
                name=name,
                created_by=by,
                local_id=local_id,
                is_encrypted=device is not None,
            )
            if added is None:
                return ThreadId(await tx.fetch_value(QUERIES.find_group, created_by=by, local_id=local_id))
            thread_id = ThreadId(added)
            if device is not None:
                await begin_group(tx, thread_id, device)
            await tx.execute(QUERIES.place_group, thread_id=thread_id)
            await add_members(tx, thread_id, {by: "active", **judged}, number=0, admin=by)
            await announce(tx, self._outbox, thread_id)
        await self._feeder.feed_at_once(thread_id)
        log.info("thread.created", thread_id=thread_id, kind="group", shard=shard.number)
        return thread_id
