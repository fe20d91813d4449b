"""What moderators see of messages: only what a member has reported, as that member could read it."""

from collections.abc import Sequence

import msgspec

from tintype.base.ids import LARGEST_ID, AccountId, MediaId, has_shard
from tintype.base.log import get_log
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.errors import MessageNotFound, ThreadNotFound
from tintype.direct.events import MessageChanged
from tintype.direct.message_media import MessageMedia
from tintype.direct.models import Member, Message, MessageId, Thread, ThreadId
from tintype.direct.reader import ThreadReader
from tintype.direct.store import QUERIES

REPORTED_MESSAGES = 20
"""Of a reported thread: so many of the newest are read for evidence."""
log = get_log("direct")


class Evidence(msgspec.Struct, frozen=True):
    """Whom a report concerns, and what they wrote; nothing that anybody else wrote."""

    owner_id: AccountId
    text: str
    folders: list[str]
    """Of photos and videos."""
    voices: list[str]
    """Folders of recordings."""
    media_ids: list[MediaId]
    is_encrypted: bool = False
    """Only who reports it can say what was written."""


class DirectModeration:
    """Takes evidence for reports, and removes messages for moderators."""

    def __init__(self, deps: DirectDependencies, reader: ThreadReader, media: MessageMedia) -> None:
        self._shards, self._outbox, self._reader, self._media = deps.shards, deps.outbox, reader, media

    async def inspect_message(self, message_id: MessageId, viewer: AccountId) -> Evidence:
        """A message that the viewer may read, with its author."""
        found = await self._reader.get_message(await self._thread_of(message_id), message_id, viewer)
        if found.kind == "unsent" or found.is_hidden:
            raise MessageNotFound
        return _evidence(found.account_id, [found], is_encrypted=found.sealed is not None)

    async def inspect_thread(self, thread_id: ThreadId, viewer: AccountId) -> Evidence:
        """A thread that the viewer is in: what the other of a pair, or an admin of the group, wrote last."""
        owner_id = _accountable(await self._reader.get(thread_id, viewer), viewer)
        page = await self._reader.page(thread_id, viewer, before=LARGEST_ID, limit=REPORTED_MESSAGES)
        written = [each for each in reversed(page.items) if each.account_id == owner_id]
        is_encrypted = any(each.sealed is not None for each in page.items)
        return _evidence(owner_id, written, is_encrypted=is_encrypted)

    async def hold(self, media_ids: Sequence[MediaId], case_key: str) -> None:
        """Keep the media of reported messages for a case."""
        await self._media.hold(media_ids, case_key)

    async def release(self, owner_id: AccountId, case_key: str) -> None:
        """The case is closed: what was kept for it alone is deleted."""
        await self._media.release(owner_id, case_key)

    async def list_held(self) -> list[tuple[AccountId, str]]:
        """For which cases media are kept, and whose."""
        return await self._media.list_held()

    async def remove(self, message_id: MessageId) -> None:
        """A moderator takes a message back for everybody, as its author could."""
        thread_id = await self._thread_of(message_id)
        async with self._shards.owner(thread_id).begin() as tx:
            await tx.fetch_one(QUERIES.lock_thread, thread_id=thread_id)
            message = await tx.fetch_one(
                QUERIES.lock_message,
                thread_id=thread_id,
                message_id=message_id,
                joined_number=0,
                edit_within_s=0,
            )
            if message is None or message["kind"] == "unsent":
                return
            change_id = await tx.fetch_value(
                QUERIES.unsend_message, thread_id=thread_id, message_id=message_id
            )
            gone = (MediaId(message["media_id"]),) if message["media_id"] else ()
            author_id = AccountId(message["account_id"])
            await self._outbox.add(
                tx,
                MessageChanged(thread_id, message_id, author_id, change_id, is_unsent=True, media_ids=gone),
            )
        await self._media.remove(gone)
        log.info("message.removed", message_id=message_id)

    async def _thread_of(self, message_id: MessageId) -> ThreadId:
        if not has_shard(self._shards, message_id):
            raise MessageNotFound
        found = await self._shards.owner(message_id).fetch_value(
            QUERIES.find_thread_of, message_id=message_id
        )
        if found is None:
            raise MessageNotFound
        return ThreadId(found)


def _evidence(owner_id: AccountId, messages: Sequence[Message], *, is_encrypted: bool) -> Evidence:
    """What these messages of one person say and show."""
    shown = [each.media for each in messages if each.media is not None]
    voices = [each.voice for each in messages if each.voice is not None]
    return Evidence(
        owner_id,
        "\n".join(each.text for each in messages if each.text),
        [each.folder for each in shown],
        [each.folder for each in voices],
        [each.media_id for each in (*shown, *voices)],
        is_encrypted=is_encrypted,
    )


def _accountable(thread: Thread, viewer: AccountId) -> AccountId:
    """Whom a report of a thread concerns."""
    others: list[Member] = [each for each in thread.members if each.account.account.id != viewer]
    named = [each for each in others if each.is_admin or thread.kind == "pair"]
    if not named:
        raise ThreadNotFound
    return named[0].account.account.id
