"""Edits, unsending and reactions: changes of messages that devices make, each once and in their order."""

import unicodedata
from collections.abc import Awaitable, Callable

import asyncpg

from shardwright.routing import Transaction
from tintype.base.ids import AccountId, MediaId, has_shard
from tintype.base.log import get_log
from tintype.base.rate_limits import DIRECT_MESSAGE
from tintype.base.text import clean_text
from tintype.direct import mutations
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.errors import (
    MessageInvalid,
    MessageNotFound,
    MessageNotYours,
    ReactionInvalid,
    ThreadNotFound,
    TooLateToEdit,
)
from tintype.direct.events import MessageChanged
from tintype.direct.message_media import MessageMedia
from tintype.direct.models import EDIT_WITHIN_S, LONGEST_MESSAGE, MessageId, Mutation, Sent, ThreadId
from tintype.direct.store import QUERIES
from tintype.direct.thread_rows import check_plain, lock_as_member

LONGEST_REACTION = 16
"""In code points: families and flags are sequences."""
Change = Callable[[Transaction, asyncpg.Record], Awaitable[int]]
"""Changes the message that is locked, and returns the change's id; raises to refuse."""
log = get_log("direct")


class MessageChanges:
    """Changes messages."""

    def __init__(self, deps: DirectDependencies, media: MessageMedia) -> None:
        self._media = media
        self._shards, self._outbox, self._limiter = deps.shards, deps.outbox, deps.limiter

    async def edit(
        self, thread_id: ThreadId, message_id: MessageId, by: AccountId, text: str, mutation: Mutation
    ) -> None:
        """Change the text of one's own message within 15 minutes."""
        text = clean_text(text)
        if not 1 <= len(text) <= LONGEST_MESSAGE:
            raise MessageInvalid

        async def change(tx: Transaction, message: asyncpg.Record) -> int:
            if message["account_id"] != by:
                raise MessageNotYours
            if message["kind"] == "unsent":
                raise MessageNotFound
            if not message["is_editable"]:
                raise TooLateToEdit
            return await tx.fetch_value(
                QUERIES.edit_message, thread_id=thread_id, message_id=message_id, text=text
            )

        await self._change(thread_id, message_id, by, mutation, change)

    async def unsend(
        self, thread_id: ThreadId, message_id: MessageId, by: AccountId, mutation: Mutation
    ) -> None:
        """Take one's own message back: nothing is left of it but its position."""

        async def change(tx: Transaction, message: asyncpg.Record) -> int:
            if message["account_id"] != by:
                raise MessageNotYours
            return await tx.fetch_value(QUERIES.unsend_message, thread_id=thread_id, message_id=message_id)

        await self._change(thread_id, message_id, by, mutation, change, is_unsent=True)

    async def react(
        self,
        thread_id: ThreadId,
        message_id: MessageId,
        by: AccountId,
        emoji: str | None,
        mutation: Mutation,
    ) -> None:
        """Set one's reaction to a message, replacing an earlier one; None takes it back."""
        if emoji is not None and not is_emoji(emoji):
            raise ReactionInvalid
        reaction = {"thread_id": thread_id, "message_id": message_id, "account_id": by}

        async def change(tx: Transaction, message: asyncpg.Record) -> int:
            if message["kind"] == "unsent":
                raise MessageNotFound
            if emoji is None:
                return await tx.fetch_value(QUERIES.remove_reaction, **reaction)
            return await tx.fetch_value(QUERIES.set_reaction, **reaction, emoji=emoji)

        await self._change(thread_id, message_id, by, mutation, change)

    async def _change(
        self,
        thread_id: ThreadId,
        message_id: MessageId,
        by: AccountId,
        mutation: Mutation,
        change: Change,
        *,
        is_unsent: bool = False,
    ) -> None:
        """An encrypted message is changed by another ciphertext; the server can only delete it."""
        mutations.check_mutation(mutation)
        if not has_shard(self._shards, thread_id):
            raise ThreadNotFound
        await self._limiter.acquire(DIRECT_MESSAGE, by)
        async with self._shards.owner(thread_id).begin() as tx:
            thread, member = await lock_as_member(tx, thread_id, by)
            if await mutations.find_earlier(tx, thread_id, by, mutation) is not None:
                return
            if not is_unsent:
                check_plain(thread)
            await mutations.advance(tx, thread_id, by, mutation)
            message = await tx.fetch_one(
                QUERIES.lock_message,
                thread_id=thread_id,
                message_id=message_id,
                joined_number=member["joined_number"],
                edit_within_s=EDIT_WITHIN_S,
            )
            if message is None:
                raise MessageNotFound
            change_id = await change(tx, message)
            await mutations.record(tx, thread_id, by, mutation, Sent(message_id, message["number"]))
            gone = (MediaId(message["media_id"]),) if is_unsent and message["media_id"] else ()
            await self._outbox.add(
                tx,
                MessageChanged(thread_id, message_id, by, change_id, is_unsent=is_unsent, media_ids=gone),
            )
        if gone:
            await self._media.remove(gone)
        log.debug("message.changed", thread_id=thread_id, message_id=message_id)


def is_emoji(text: str) -> bool:
    """Whether a text is an emoji, as far as that can be told without a table: symbols and their joiners, no words."""
    if not 1 <= len(text) <= LONGEST_REACTION or text.isascii():
        return False
    kinds = {unicodedata.category(each) for each in text}
    return "So" in kinds and kinds <= {"So", "Sk", "Mn", "Me", "Cf", "Sm", "Po", "Nd"}
