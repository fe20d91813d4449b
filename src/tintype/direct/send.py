"""Sending a message: one statement on the thread's shard where nothing holds it back (docs/adr/0073)."""

import asyncpg
import msgspec

from shardwright.routing import Transaction
from tintype.base.bounded_map import BoundedMap
from tintype.base.errors import TintypeError
from tintype.base.ids import AccountId, MediaId, has_shard
from tintype.base.log import get_log
from tintype.base.rate_limits import DIRECT_MESSAGE
from tintype.direct import mutations
from tintype.direct.after_seen import find_lifetime
from tintype.direct.delivery import MessageDelivery
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.drafts import check_draft, kind_of, shared_id_of
from tintype.direct.errors import (
    MessageNotFound,
    RecipientUnavailable,
    RequestPending,
    ThreadNotFound,
)
from tintype.direct.events import MessageSent
from tintype.direct.inbox_feeder import InboxFeeder
from tintype.direct.message_media import MessageMedia
from tintype.direct.models import (
    EDIT_WITHIN_S,
    MESSAGES_BEFORE_ACCEPTANCE,
    QUICK_MEMBERS,
    Draft,
    MessageId,
    Mutation,
    Sent,
    ThreadId,
)
from tintype.direct.requests import accept_in
from tintype.direct.shared import check_may_share
from tintype.direct.store import QUERIES
from tintype.direct.thread_rows import check_plain, lock_as_member

MAX_PEERS = 10_000
log = get_log("direct")


class Sender:
    """Sends messages."""

    def __init__(
        self, deps: DirectDependencies, feeder: InboxFeeder, media: MessageMedia, delivery: MessageDelivery
    ) -> None:
        self._deps, self._media, self._delivery = deps, media, delivery
        self._shards, self._outbox, self._limiter = deps.shards, deps.outbox, deps.limiter
        self._accounts, self._feeder = deps.accounts, feeder
        self._peers: BoundedMap[ThreadId, tuple[AccountId, ...]] = BoundedMap(MAX_PEERS)
        """Who is in a pair: that never changes, so a process may remember it."""

    async def send(self, thread_id: ThreadId, by: AccountId, draft: Draft, mutation: Mutation) -> Sent:
        """Send a message, once however often the device sends it.

        What was sent before is answered as then, whatever has changed since: a block, a shared post that is gone.
        """
        mutations.check_mutation(mutation)
        draft = check_draft(draft)
        if not has_shard(self._shards, thread_id):
            raise ThreadNotFound
        try:
            return await self._send(thread_id, by, draft, mutation)
        except TintypeError:
            sent = await self.find_sent(thread_id, by, mutation)
            if sent is None:
                raise
            return sent

    async def _send(self, thread_id: ThreadId, by: AccountId, draft: Draft, mutation: Mutation) -> Sent:
        await self._limiter.acquire(DIRECT_MESSAGE, by)
        await self.check_recipient(thread_id, by)
        await check_may_share(self._deps, by, draft)
        if draft.media_id is not None:
            is_voice = await self._attach(thread_id, by, draft.media_id, mutation)
            draft = msgspec.structs.replace(draft, is_voice=is_voice)
        sent = await self._send_at_once(thread_id, by, draft, mutation) if draft.reply_to is None else None
        sent = sent or await self._send_locked(thread_id, by, draft, mutation)
        if draft.media_id is not None:
            await self._media.confirm(by, draft.media_id)
        return sent

    async def _attach(
        self, thread_id: ThreadId, by: AccountId, media_id: MediaId, mutation: Mutation
    ) -> bool:
        """Attach the media of a message of a member, unless the message was sent before; whether it is a voice."""
        thread = await self._shards.owner(thread_id).fetch_one(
            QUERIES.read_thread, thread_id=thread_id, account_id=by
        )
        if thread is None or thread["is_blocked"]:
            raise ThreadNotFound
        if await self.find_sent(thread_id, by, mutation) is not None:
            return False
        return await self._media.attach(thread_id, by, media_id, mutation.local_id) == "audio"

    async def find_sent(self, thread_id: ThreadId, by: AccountId, mutation: Mutation) -> Sent | None:
        """What became of a message that a device sent before."""
        row = await self._shards.owner(thread_id).fetch_one(
            QUERIES.find_mutation, thread_id=thread_id, account_id=by, local_id=mutation.local_id
        )
        return Sent(MessageId(row["message_id"]), row["number"]) if row is not None else None

    async def deliver(self, thread_id: ThreadId, by: AccountId, draft: Draft, *, local_id: str) -> Sent:
        """Add a message that another room has accepted, once for each local id; no device has counted it."""
        draft = check_draft(draft)
        await self.check_recipient(thread_id, by)
        return await self._send_locked(thread_id, by, draft, Mutation("", local_id, 0))

    async def check_recipient(self, thread_id: ThreadId, by: AccountId) -> None:
        """Refuse a message to somebody whose account is not in use; the account is in the cache."""
        peers = self._peers.get(thread_id)
        if peers is None:
            row = await self._shards.owner(thread_id).fetch_one(
                QUERIES.read_thread, thread_id=thread_id, account_id=by
            )
            if row is None or row["is_blocked"]:
                raise ThreadNotFound
            peers = tuple(row["member_ids"]) if row["kind"] == "pair" else ()
            if row["kind"] == "group" or len(peers) == 2:  # noqa: PLR2004 - of a pair
                self._peers[thread_id] = peers
        if peers and by not in peers:
            raise ThreadNotFound
        others = [each for each in peers if each != by]
        found = await self._accounts.find_many(others) if others else {}
        if any(each not in found or not found[each].is_active for each in others):
            raise RecipientUnavailable

    async def _send_at_once(
        self, thread_id: ThreadId, by: AccountId, draft: Draft, mutation: Mutation
    ) -> Sent | None:
        """Send in one call; None where something holds the message back, or it was sent before."""
        shard = self._shards.owner(thread_id)
        event = self._outbox.prepare(
            MessageSent, last="message_id", more=("number",), thread_id=thread_id, account_id=by
        )
        try:
            row = await shard.fetch_one(
                QUERIES.send_at_once,
                thread_id=thread_id,
                account_id=by,
                kind=kind_of(draft),
                text=draft.text,
                media_id=draft.media_id,
                shared_id=shared_id_of(draft),
                device_id=mutation.device_id,
                local_id=mutation.local_id,
                counter=mutation.counter,
                quick_members=QUICK_MEMBERS,
                **event,
            )
        except asyncpg.UniqueViolationError:
            return None  # the same local id, sent under two counts at the same time
        if row is None:
            return None
        message_id = MessageId(row["id"])
        await self._delivery.deliver(row)
        await self._outbox.wake(shard)  # what is left for the event's handlers is not urgent any more
        log.debug("message.sent", thread_id=thread_id, message_id=message_id)
        return Sent(message_id, row["number"])

    async def _send_locked(
        self, thread_id: ThreadId, by: AccountId, draft: Draft, mutation: Mutation
    ) -> Sent:
        """Send in a transaction that holds the thread, or say why not."""
        async with self._shards.owner(thread_id).begin() as tx:
            thread, member = await lock_as_member(tx, thread_id, by)
            earlier = await mutations.find_earlier(tx, thread_id, by, mutation)
            if earlier is not None:
                return earlier
            check_plain(thread)
            if mutation.device_id:
                await mutations.advance(tx, thread_id, by, mutation)
            await check_held_back(tx, thread, by)
            await _check_quoted(tx, thread_id, draft, member["joined_number"])
            if member["state"] == "requested":
                await accept_in(tx, self._outbox, thread_id, by)
            sent = await _add(tx, thread, by, draft, await find_lifetime(tx, thread))
            await mutations.record(tx, thread_id, by, mutation, sent)
            await self._outbox.add(tx, MessageSent(thread_id, by, sent.message_id, sent.number))
        await self._feeder.feed_at_once(thread_id)
        await self._delivery.deliver_stored(thread_id, sent.message_id)
        log.debug("message.sent", thread_id=thread_id, message_id=sent.message_id)
        return sent


async def check_held_back(tx: Transaction, thread: asyncpg.Record, by: AccountId) -> None:
    """Refuse a message to nobody, and one too many to somebody who has not accepted the request."""
    if thread["kind"] == "pair" and None in {thread["low_id"], thread["high_id"]}:
        raise RecipientUnavailable
    if thread["pending_id"] in {None, by}:
        return
    sent: int = await tx.fetch_value(
        QUERIES.count_sent, thread_id=thread["id"], account_id=by, limit=MESSAGES_BEFORE_ACCEPTANCE
    )
    if sent >= MESSAGES_BEFORE_ACCEPTANCE:
        raise RequestPending


async def _check_quoted(tx: Transaction, thread_id: ThreadId, draft: Draft, joined_number: int) -> None:
    """Refuse a reply to a message that its author may not read."""
    if draft.reply_to is None:
        return
    quoted = await tx.fetch_one(
        QUERIES.lock_message,
        thread_id=thread_id,
        message_id=draft.reply_to,
        joined_number=joined_number,
        edit_within_s=EDIT_WITHIN_S,
    )
    if quoted is None or quoted["kind"] == "unsent":
        raise MessageNotFound


async def _add(
    tx: Transaction, thread: asyncpg.Record, by: AccountId, draft: Draft, lifetime: dict[str, int | None]
) -> Sent:
    """Add the message, the next one of its thread."""
    thread_id, number = thread["id"], thread["last_number"] + 1
    message_id = MessageId(
        await tx.fetch_value(
            QUERIES.add_message,
            thread_id=thread_id,
            number=number,
            account_id=by,
            kind=kind_of(draft),
            text=draft.text,
            reply_to_id=draft.reply_to,
            media_id=draft.media_id,
            shared_id=shared_id_of(draft),
            **lifetime,
        )
    )
    await tx.execute(
        QUERIES.count_message, thread_id=thread_id, account_id=by, number=number, message_id=message_id
    )
    return Sent(message_id, number)
