"""The MLS group of a thread as members' devices see it: its tree, its commits in their order, welcomes."""

import asyncpg

from tintype.base.ids import AccountId, has_shard
from tintype.base.log import get_log
from tintype.base.rate_limits import ENCRYPTION_SETUP
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.encryption.devices import Devices
from tintype.direct.encryption.errors import DeviceNotInGroup, EpochTaken, GroupInUse
from tintype.direct.encryption.group_rows import begin_group, check_encrypted, list_leaves, own_leaf
from tintype.direct.encryption.models import DeviceId, GroupState, Leaf, MemberDevice, StoredCommit
from tintype.direct.encryption.store import QUERIES
from tintype.direct.errors import ThreadNotFound
from tintype.direct.models import ThreadId
from tintype.direct.reader import ThreadReader
from tintype.direct.thread_rows import announce, lock_as_member

log = get_log("direct")


class Groups:
    """Reads groups, and begins them anew where nobody holds their keys any more."""

    def __init__(self, deps: DirectDependencies, devices: Devices, reader: ThreadReader) -> None:
        self._shards, self._outbox, self._limiter = deps.shards, deps.outbox, deps.limiter
        self._devices, self._reader = devices, reader

    async def get(self, thread_id: ThreadId, reader: AccountId) -> GroupState:
        """The group of a thread: who is in its tree, who is missing, and what the next commit takes up."""
        row = await self._reader.get_row(thread_id, reader)
        check_encrypted(row)
        shard = self._shards.owner(thread_id)
        leaves = [Leaf(**each) for each in await shard.fetch(QUERIES.list_leaves, thread_id=thread_id)]
        proposals = await shard.fetch(QUERIES.list_proposals, thread_id=thread_id)
        present = {each.device_id for each in leaves}
        devices = await self._devices.list_of(row["member_ids"])
        return GroupState(
            row["group_number"],
            row["epoch"],
            leaves,
            [each for each in devices if each.id not in present],
            [each["content"] for each in proposals],
        )

    async def list_devices(self, thread_id: ThreadId, reader: AccountId) -> list[MemberDevice]:
        """The devices of everybody in a thread."""
        row = await self._reader.get_row(thread_id, reader)
        return await self._devices.list_of(row["member_ids"])

    async def page_commits(
        self, thread_id: ThreadId, reader: AccountId, device_id: DeviceId, *, since: int, limit: int
    ) -> list[StoredCommit]:
        """Commits since an epoch, in their order, as far as the device was in the group."""
        row, leaf = await self._read_leaf(thread_id, reader, device_id)
        rows = await self._shards.owner(thread_id).fetch(
            QUERIES.page_commits,
            thread_id=thread_id,
            group_number=row["group_number"],
            since=max(since, leaf.added_epoch),
            limit=limit,
        )
        return [StoredCommit(**each) for each in rows]

    async def get_welcome(
        self, thread_id: ThreadId, reader: AccountId, device_id: DeviceId
    ) -> tuple[bytes, int]:
        """The welcome by which a device joins the group, and the epoch it joins in."""
        row, leaf = await self._read_leaf(thread_id, reader, device_id)
        found = await self._shards.owner(thread_id).fetch_one(
            QUERIES.find_commit,
            thread_id=thread_id,
            group_number=row["group_number"],
            epoch=leaf.added_epoch - 1,
        )
        if found is None or found["welcome"] is None:
            raise DeviceNotInGroup  # it began the group itself, or the commit is too old
        return found["welcome"], leaf.added_epoch

    async def begin_anew(
        self, thread_id: ThreadId, by: AccountId, device_id: DeviceId, *, group_number: int
    ) -> int:
        """Replace a group that nobody has committed to, or whose devices are all gone; returns its number."""
        if not has_shard(self._shards, thread_id):
            raise ThreadNotFound
        device = await self._devices.get(by, device_id)
        await self._limiter.acquire(ENCRYPTION_SETUP, by)
        async with self._shards.owner(thread_id).begin() as tx:
            thread, _ = await lock_as_member(tx, thread_id, by)
            check_encrypted(thread)
            if thread["group_number"] != group_number:
                raise EpochTaken
            others = [each for each in await list_leaves(tx, thread_id) if each.device_id != device_id]
            if thread["epoch"] > 0 and not all(each.is_gone for each in others):
                raise GroupInUse
            number = await begin_group(tx, thread_id, device)
            await announce(tx, self._outbox, thread_id)
        log.info("group.begun", thread_id=thread_id, group_number=number)
        return number

    async def _read_leaf(
        self, thread_id: ThreadId, reader: AccountId, device_id: DeviceId
    ) -> tuple[asyncpg.Record, Leaf]:
        row = await self._reader.get_row(thread_id, reader)
        check_encrypted(row)
        rows = await self._shards.owner(thread_id).fetch(QUERIES.list_leaves, thread_id=thread_id)
        return row, own_leaf([Leaf(**each) for each in rows], reader, device_id)
