"""Leaving an encrypted group, and devices that are gone: leaves that the next commit removes.

Nobody can commit their own removal. Who leaves proposes it; until a commit has taken it up, no message is accepted, so
that none is readable for somebody who is not in the thread.
"""

from collections.abc import Sequence

from shardwright.routing import Shard
from tintype.base.ids import AccountId, has_shard
from tintype.base.log import get_log
from tintype.base.shard_groups import run_by_shard
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.encryption.errors import CommitInvalid, EpochStale
from tintype.direct.encryption.events import EncryptionDevicesChanged
from tintype.direct.encryption.group_rows import check_encrypted, group_id_of, list_leaves, own_leaf
from tintype.direct.encryption.handshake_format import RemoveProposal, read_remove_proposal
from tintype.direct.encryption.models import LARGEST_KEY_PACKAGE, MAX_DEVICES, DeviceId
from tintype.direct.encryption.store import QUERIES
from tintype.direct.errors import NotAGroup, ThreadNotFound
from tintype.direct.inbox_feeder import UNAVAILABLE, InboxFeeder
from tintype.direct.members import end_membership
from tintype.direct.models import ThreadId
from tintype.direct.store import QUERIES as THREAD_QUERIES
from tintype.direct.thread_rows import announce, lock_as_member

log = get_log("direct")


class Departure:
    """Takes proposals of those who leave, and notes in every tree which devices are gone."""

    def __init__(self, deps: DirectDependencies, feeder: InboxFeeder) -> None:
        self._shards, self._outbox, self._feeder = deps.shards, deps.outbox, feeder

    async def leave(
        self,
        thread_id: ThreadId,
        by: AccountId,
        device_id: DeviceId,
        *,
        group_number: int,
        epoch: int,
        proposals: Sequence[bytes],
    ) -> None:
        """Leave an encrypted group, and propose the removal of one's own leaves."""
        if not has_shard(self._shards, thread_id):
            raise ThreadNotFound
        if len(proposals) > MAX_DEVICES or any(len(each) > LARGEST_KEY_PACKAGE for each in proposals):
            raise CommitInvalid
        read = [read_remove_proposal(each) for each in proposals]
        async with self._shards.owner(thread_id).begin() as tx:
            thread, _ = await lock_as_member(tx, thread_id, by)
            check_encrypted(thread)
            if thread["kind"] != "group":
                raise NotAGroup
            if (thread["group_number"], thread["epoch"]) != (group_number, epoch):
                raise EpochStale
            leaves = await list_leaves(tx, thread_id)
            sender = own_leaf(leaves, by, device_id)
            own = {each.leaf_index for each in leaves if each.account_id == by}
            group_id = group_id_of(thread_id, group_number)
            if not all(_fits(each, group_id, epoch, sender.leaf_index, own) for each in read):
                raise CommitInvalid
            await tx.execute(
                QUERIES.add_proposals,
                thread_id=thread_id,
                epoch=epoch,
                leaf_indexes=[each.leaf_index for each in read],
                refs=[each.reference for each in read],
                contents=list(proposals),
            )
            await end_membership(tx, thread_id, by, "left")
            await announce(tx, self._outbox, thread_id, gone=(by,))
        await self._feeder.feed_at_once(thread_id)
        log.info("thread.left", thread_id=thread_id, is_removed=False)

    async def apply(self, changed: EncryptionDevicesChanged) -> None:
        """Tell every encrypted thread of somebody about their devices; safe to repeat."""
        rows = await self._shards.owner(changed.account_id).fetch(
            THREAD_QUERIES.list_thread_ids, account_id=changed.account_id
        )

        async def apply(shard: Shard, ids: list[ThreadId]) -> None:
            for row in await shard.fetch(QUERIES.list_encrypted_threads, ids=ids):
                await self._apply_in(shard, ThreadId(row["id"]), changed.removed_ids)

        if thread_ids := [ThreadId(row["thread_id"]) for row in rows]:
            await run_by_shard(self._shards, thread_ids, int, apply)

    async def apply_at_once(self, changed: EncryptionDevicesChanged) -> None:
        """`apply`, before whoever removes a device gets the answer; otherwise its event does it."""
        try:
            await self.apply(changed)
        except (*UNAVAILABLE, ExceptionGroup) as error:
            log.warning("devices.postponed", account_id=changed.account_id, error=str(error))

    async def _apply_in(self, shard: Shard, thread_id: ThreadId, removed_ids: Sequence[DeviceId]) -> None:
        async with shard.begin() as tx:
            await tx.fetch_one(THREAD_QUERIES.lock_thread, thread_id=thread_id)
            flagged = await tx.fetch(QUERIES.flag_leaves, thread_id=thread_id, device_ids=list(removed_ids))
            if flagged or not removed_ids:
                await announce(tx, self._outbox, thread_id)


def _fits(proposal: RemoveProposal, group_id: bytes, epoch: int, sender: int, own: set[int]) -> bool:
    header = proposal.header
    return (header.group_id, header.epoch, header.leaf_index) == (group_id, epoch, sender) and (
        proposal.leaf_index in own
    )
