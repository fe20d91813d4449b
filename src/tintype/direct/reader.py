"""Reading a thread and its messages, as one of its members."""

from collections.abc import Mapping, Sequence

import asyncpg

from tintype.base.ids import LARGEST_ID, AccountId, has_shard
from tintype.base.pages import Page
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.errors import MessageNotFound, ThreadNotFound
from tintype.direct.message_media import MessageMedia
from tintype.direct.models import Member, Message, MessageId, Quote, Sealed, Thread, ThreadId, VoiceMessage
from tintype.direct.mutations import check_local_id
from tintype.direct.people import People, find_people
from tintype.direct.shared import STORY_KINDS, SharedContent, load_shared
from tintype.direct.store import QUERIES
from tintype.direct.thread_rows import IN_THREAD
from tintype.posts import PostMedia


class ThreadReader:
    """Reads threads for their members; for everybody else there is no such thread."""

    def __init__(self, deps: DirectDependencies, media: MessageMedia) -> None:
        self._deps, self._shards, self._media = deps, deps.shards, media

    async def get(self, thread_id: ThreadId, reader: AccountId, *, device_id: str | None = None) -> Thread:
        """A thread with its members."""
        if device_id is not None:
            check_local_id(device_id)
        row = await self.get_row(thread_id, reader)
        shard = self._shards.owner(thread_id)
        members = await shard.fetch(QUERIES.list_members, thread_id=thread_id)
        people = await find_people(self._deps, reader, row["member_ids"])
        own = await self._shards.owner(reader).fetch_one(
            QUERIES.find_inbox, account_id=reader, thread_ids=[thread_id]
        )
        counter = None
        if device_id is not None:
            counter = await shard.fetch_value(
                QUERIES.find_counter, thread_id=thread_id, account_id=reader, device_id=device_id
            )
        return Thread(
            id=thread_id,
            kind=row["kind"],
            is_encrypted=row["is_encrypted"],
            name=row["name"],
            state=row["state"],
            is_admin=row["is_admin"],
            disappear_s=row["disappear_s"],
            disappears_after="seen" if row["disappears_after_seen"] else "sent",
            last_number=row["last_number"],
            seen_number=row["seen_number"],
            member_count=len(row["member_ids"]),
            members=_show_members(row, members, people, reader),
            photo=(await self._media.find_photos([row["photo_id"]])).get(row["photo_id"]),
            is_archived=own is not None and own["is_archived"],
            muted_until=own["muted_until"] if own is not None else None,
            last_counter=None if device_id is None else counter or 0,
        )

    async def get_row(self, thread_id: ThreadId, reader: AccountId) -> asyncpg.Record:
        """The thread's row and the reader's membership; `ThreadNotFound` also where a block parts a pair."""
        if not has_shard(self._shards, thread_id):
            raise ThreadNotFound
        row = await self._shards.owner(thread_id).fetch_one(
            QUERIES.read_thread, thread_id=thread_id, account_id=reader
        )
        if row is None or row["is_blocked"]:
            raise ThreadNotFound
        if row["kind"] == "pair" and (await find_people(self._deps, reader, row["member_ids"])).hidden:
            raise ThreadNotFound  # the block is newer than what the thread's shard knows
        return row

    async def list_typing_members(self, thread_id: ThreadId, account_id: AccountId) -> list[AccountId]:
        """The others in a thread to whom somebody's typing is shown; nobody, before that person has accepted it."""
        row = await self.get_row(thread_id, account_id)
        if row["state"] != "active":
            return []
        people = await find_people(self._deps, account_id, row["member_ids"])
        return [each for each in row["member_ids"] if each != account_id and each in people.visible]

    async def page(self, thread_id: ThreadId, reader: AccountId, *, before: int, limit: int) -> Page[Message]:
        """Messages since the reader joined, newest first."""
        row = await self.get_row(thread_id, reader)
        messages = await self._read(thread_id, reader, row["joined_number"], before, limit + 1)
        next_before = messages[limit - 1].id if len(messages) > limit else None
        return Page(messages[:limit], next_before)

    async def get_message(self, thread_id: ThreadId, message_id: MessageId, reader: AccountId) -> Message:
        """One message that the reader may read."""
        row = await self.get_row(thread_id, reader)
        before = min(message_id + 1, LARGEST_ID)
        found = await self._read(thread_id, reader, row["joined_number"], before, 1)
        if not found or found[0].id != message_id:
            raise MessageNotFound
        return found[0]

    async def _read(
        self, thread_id: ThreadId, reader: AccountId, joined_number: int, before: int, limit: int
    ) -> list[Message]:
        rows = await self._shards.owner(thread_id).fetch(
            QUERIES.page_messages,
            thread_id=thread_id,
            joined_number=joined_number,
            before=before,
            limit=limit,
        )
        return await self._show(reader, rows)

    async def show_found(self, reader: AccountId, rows: Sequence[asyncpg.Record]) -> list[Message]:
        """Messages of several threads that a search has found, without those of people whom a block hides."""
        return [each for each in await self._show(reader, rows) if not each.is_hidden]

    async def _show(self, reader: AccountId, rows: Sequence[asyncpg.Record]) -> list[Message]:
        named = {AccountId(row["account_id"]) for row in rows}
        named |= {AccountId(row["quoted_account_id"]) for row in rows if row["quoted_account_id"]}
        named |= {AccountId(each) for row in rows for each in row["reactor_ids"]}
        people = await find_people(self._deps, reader, named)
        shown = [row for row in rows if row["account_id"] not in people.hidden]
        shared = await load_shared(self._deps, reader, shown)
        media = await self._media.find_many([row["media_id"] for row in shown if row["media_id"]])
        return [show_message(row, people, shared, media) for row in rows]


def show_message(
    row: asyncpg.Record, people: People, shared: SharedContent, media: Mapping[int, PostMedia | VoiceMessage]
) -> Message:
    """A message as the reader may see it: nothing of it where a block hides its author."""
    author_id = AccountId(row["account_id"])
    is_hidden, attached = author_id in people.hidden, media.get(row["media_id"])
    reactions = zip(row["reactor_ids"], row["emojis"], strict=True)
    return Message(
        id=MessageId(row["id"]),
        thread_id=ThreadId(row["thread_id"]),
        number=row["number"],
        account_id=author_id,
        author=people.visible.get(author_id),
        kind=row["kind"],
        text="" if is_hidden else row["text"],
        is_hidden=is_hidden,
        reply_to=None if is_hidden else _quote(row, people),
        media=attached if isinstance(attached, PostMedia) else None,
        voice=attached if isinstance(attached, VoiceMessage) else None,
        post=shared.posts.get(row["shared_id"]) if row["kind"] == "post" else None,
        story=shared.stories.get(row["shared_id"]) if row["kind"] in STORY_KINDS else None,
        sealed=None if is_hidden else _seal(row),
        edited_at=row["edited_at"],
        expires_at=row["expires_at"],
        after_seen_s=row["after_seen_s"],
        reactions=tuple((AccountId(who), emoji) for who, emoji in reactions if who in people.visible),
    )


def _seal(row: asyncpg.Record) -> Sealed | None:
    if row["ciphertext"] is None:
        return None
    return Sealed(row["ciphertext"], row["epoch"], row["sender_device_id"], row["media_id"])


def _quote(row: asyncpg.Record, people: People) -> Quote | None:
    if row["reply_to_id"] is None:
        return None
    quoted_id: AccountId | None = row["quoted_account_id"]
    if quoted_id is None or quoted_id in people.hidden or row["quoted_kind"] == "unsent":
        return Quote(MessageId(row["reply_to_id"]), None, "")
    return Quote(MessageId(row["reply_to_id"]), quoted_id, row["quoted_text"])


def _show_members(
    thread: asyncpg.Record, rows: Sequence[asyncpg.Record], people: People, reader: AccountId
) -> list[Member]:
    """The others in a thread. Of a pair both are shown, also where one declined: who sent a request is not told."""
    return [
        Member(
            people.visible[row["account_id"]],
            row["is_admin"],
            row["state"] != "active",
            row["seen_number"] if row["state"] == "active" or row["account_id"] == reader else 0,
            row["seen_at"] if row["state"] == "active" or row["account_id"] == reader else None,
        )
        for row in rows
        if row["account_id"] in people.visible and (row["state"] in IN_THREAD or thread["kind"] == "pair")
    ]
