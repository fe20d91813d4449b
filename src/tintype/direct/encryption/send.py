"""Sending a ciphertext: in the device's order, once, and only in the current epoch of the group.

A message of an earlier epoch would be unreadable for devices that have joined since, so it is refused, and its sender
encrypts it again. Thus every message lies in one epoch, and the numbers of messages and commits are one order.
"""

import asyncpg

from shardwright.routing import Transaction
from tintype.base.errors import TintypeError
from tintype.base.ids import AccountId, has_shard
from tintype.base.log import get_log
from tintype.base.rate_limits import DIRECT_MESSAGE
from tintype.direct import mutations
from tintype.direct.after_seen import find_lifetime
from tintype.direct.delivery import MessageDelivery
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.encryption.attachments import Attachments
from tintype.direct.encryption.errors import CiphertextInvalid, CommitNeeded, DeviceNotFound, EpochStale
from tintype.direct.encryption.group_rows import check_encrypted, group_id_of, list_leaves, own_leaf
from tintype.direct.encryption.handshake_format import read_ciphertext
from tintype.direct.encryption.models import LARGEST_CIPHERTEXT, DeviceId, SealedDraft
from tintype.direct.encryption.store import QUERIES
from tintype.direct.errors import ThreadNotFound
from tintype.direct.events import MessageSent
from tintype.direct.inbox_feeder import InboxFeeder
from tintype.direct.models import MessageId, Mutation, Sent, ThreadId
from tintype.direct.requests import accept_in
from tintype.direct.send import Sender, check_held_back
from tintype.direct.store import QUERIES as THREAD_QUERIES
from tintype.direct.thread_rows import lock_as_member

log = get_log("direct")


class EncryptedSender:
    """Sends ciphertexts."""

    def __init__(
        self,
        deps: DirectDependencies,
        sender: Sender,
        feeder: InboxFeeder,
        attachments: Attachments,
        delivery: MessageDelivery,
    ) -> None:
        self._shards, self._outbox, self._limiter = deps.shards, deps.outbox, deps.limiter
        self._sender, self._feeder, self._attachments = sender, feeder, attachments
        self._delivery = delivery

    async def send(self, thread_id: ThreadId, by: AccountId, draft: SealedDraft, mutation: Mutation) -> Sent:
        """Send a ciphertext, once however often the device sends the same local id; answered then as the first time."""
        mutations.check_mutation(mutation)
        check_ciphertext(thread_id, draft)
        if not has_shard(self._shards, thread_id):
            raise ThreadNotFound
        try:
            return await self._send(thread_id, by, draft, mutation)
        except TintypeError:
            sent = await self._sender.find_sent(thread_id, by, mutation)
            if sent is None:
                raise
            return sent

    async def _send(self, thread_id: ThreadId, by: AccountId, draft: SealedDraft, mutation: Mutation) -> Sent:
        await self._limiter.acquire(DIRECT_MESSAGE, by)
        await self._sender.check_recipient(thread_id, by)
        if draft.attachment_id is not None:
            await self._attachments.take(thread_id, by, draft.attachment_id, mutation.local_id)
        async with self._shards.owner(thread_id).begin() as tx:
            thread, member = await lock_as_member(tx, thread_id, by)
            check_encrypted(thread)
            earlier = await mutations.find_earlier(tx, thread_id, by, mutation)
            if earlier is not None:
                return earlier
            await mutations.advance(tx, thread_id, by, mutation)
            await _check_may_send(tx, thread, by, draft, mutation)
            if member["state"] == "requested":
                await accept_in(tx, self._outbox, thread_id, by)
            sent = await _add(tx, thread, by, draft, mutation)
            await mutations.record(tx, thread_id, by, mutation, sent)
            await self._outbox.add(tx, _event(thread_id, by, sent, draft))
        if draft.attachment_id is not None:
            await self._attachments.confirm(by, draft.attachment_id)
        await self._feeder.feed_at_once(thread_id)
        await self._delivery.deliver_stored(thread_id, sent.message_id)
        log.debug("message.sent", thread_id=thread_id, message_id=sent.message_id)
        return sent


def check_ciphertext(thread_id: ThreadId, draft: SealedDraft) -> None:
    """Refuse what is too large, or no message of the group and epoch that it is said to be of."""
    if not 1 <= len(draft.ciphertext) <= LARGEST_CIPHERTEXT:
        raise CiphertextInvalid
    expected = (group_id_of(thread_id, draft.group_number), draft.epoch)
    if read_ciphertext(draft.ciphertext) != expected:
        raise CiphertextInvalid("The message is of another group or epoch.")


async def _check_may_send(
    tx: Transaction, thread: asyncpg.Record, by: AccountId, draft: SealedDraft, mutation: Mutation
) -> None:
    """Only devices of the group speak, in its current epoch, and only while nobody who is gone could read it."""
    await check_held_back(tx, thread, by)
    if (thread["group_number"], thread["epoch"]) != (draft.group_number, draft.epoch):
        raise EpochStale
    if not mutation.device_id.isdigit():
        raise DeviceNotFound
    leaves = await list_leaves(tx, ThreadId(thread["id"]))
    own_leaf(leaves, by, DeviceId(int(mutation.device_id)))
    if thread["epoch"] == 0 or any(each.is_gone for each in leaves):
        raise CommitNeeded


async def _add(
    tx: Transaction, thread: asyncpg.Record, by: AccountId, draft: SealedDraft, mutation: Mutation
) -> Sent:
    """Add the ciphertext; a change has the number of the last message, so that nobody has more to read."""
    thread_id, number = ThreadId(thread["id"]), thread["last_number"] + (not draft.is_change)
    message_id = MessageId(
        await tx.fetch_value(
            QUERIES.add_encrypted_message,
            thread_id=thread_id,
            number=number,
            account_id=by,
            kind="encrypted_change" if draft.is_change else "encrypted",
            attachment_id=draft.attachment_id,
            ciphertext=draft.ciphertext,
            epoch=draft.epoch,
            device_id=int(mutation.device_id),
            **await find_lifetime(tx, thread),
        )
    )
    if not draft.is_change:
        await tx.execute(
            THREAD_QUERIES.count_message,
            thread_id=thread_id,
            account_id=by,
            number=number,
            message_id=message_id,
        )
    return Sent(message_id, number)


def _event(thread_id: ThreadId, by: AccountId, sent: Sent, draft: SealedDraft) -> MessageSent:
    return MessageSent(thread_id, by, sent.message_id, sent.number, is_change=draft.is_change)
