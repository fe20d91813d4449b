"""The inbox: a person's threads, on the person's shard, and what they have decided about each."""

from datetime import datetime
from typing import Any

import asyncpg

from shardwright.routing import Query
from tintype.base.ids import AccountId
from tintype.base.pages import Page, fill_page
from tintype.base.shard_groups import group_by_shard
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.errors import ThreadNotFound
from tintype.direct.message_media import MessageMedia
from tintype.direct.models import Folder, InboxEntry, Message, MessageId, ThreadId, Unread
from tintype.direct.people import People, find_people
from tintype.direct.store import QUERIES
from tintype.posts import PostMedia

_FOLDERS: dict[Folder, tuple[str, bool]] = {
    "inbox": ("active", False),
    "requests": ("requested", False),
    "archive": ("active", True),
}


class Inbox:
    """Lists threads, counts what is unread, mutes and archives."""

    def __init__(self, deps: DirectDependencies, media: MessageMedia) -> None:
        self._deps, self._shards, self._media = deps, deps.shards, media

    async def page(
        self, account_id: AccountId, folder: Folder, *, before: int, limit: int
    ) -> Page[InboxEntry]:
        """A folder, the thread with the newest message first."""
        state, is_archived = _FOLDERS[folder]
        rows: dict[ThreadId, asyncpg.Record] = {}

        async def fetch(before: int, limit: int) -> list[tuple[ThreadId, int]]:
            found = await self._shards.owner(account_id).fetch(
                QUERIES.page_inbox,
                account_id=account_id,
                state=state,
                is_archived=is_archived,
                before=before,
                limit=limit,
            )
            rows.update((ThreadId(row["thread_id"]), row) for row in found)
            return [(ThreadId(row["thread_id"]), row["last_id"]) for row in found]

        async def show(ids: list[ThreadId]) -> dict[ThreadId, InboxEntry]:
            return await self._show(account_id, {each: rows[each] for each in ids})

        return await fill_page(fetch, show, before=before, limit=limit)

    async def count_unread(self, account_id: AccountId) -> Unread:
        """How many threads have something unread, and how many requests wait."""
        row = await self._shards.owner(account_id).fetch_one(QUERIES.count_unread, account_id=account_id)
        return Unread(row["threads"], row["requests"]) if row else Unread(0, 0)

    async def list_thread_ids(self, account_id: AccountId) -> list[ThreadId]:
        """Every thread that somebody is in."""
        rows = await self._shards.owner(account_id).fetch(QUERIES.list_thread_ids, account_id=account_id)
        return [ThreadId(row["thread_id"]) for row in rows]

    async def archive(self, thread_id: ThreadId, by: AccountId, *, is_archived: bool) -> None:
        """Move a thread to the archive, or back."""
        await self._change(QUERIES.archive_thread, thread_id, by, is_archived=is_archived)

    async def mute(self, thread_id: ThreadId, by: AccountId, until: datetime | None) -> None:
        """Send no notifications of a thread until then; None ends it."""
        await self._change(QUERIES.mute_thread, thread_id, by, muted_until=until)

    async def _change(self, query: Query, thread_id: ThreadId, by: AccountId, **params: Any) -> None:
        changed = await self._shards.owner(by).fetch_one(query, account_id=by, thread_id=thread_id, **params)
        if changed is None:
            raise ThreadNotFound

    async def _show(
        self, reader: AccountId, rows: dict[ThreadId, asyncpg.Record]
    ) -> dict[ThreadId, InboxEntry]:
        threads: list[asyncpg.Record] = []
        for shard, ids in group_by_shard(self._shards, rows, int):
            threads += await shard.fetch(QUERIES.gather_threads, ids=ids, account_id=reader)
        named = {AccountId(each) for row in threads for each in row["member_ids"]}
        named |= {AccountId(row["last_account_id"]) for row in threads if row["last_account_id"]}
        people = await find_people(self._deps, reader, named)
        photos = await self._media.find_photos([row["photo_id"] for row in threads])
        return {
            ThreadId(row["id"]): _entry(row, rows[row["id"]], people, reader, photos.get(row["photo_id"]))
            for row in threads
            if row["kind"] == "group" or not people.hidden & set(row["member_ids"])
        }


def _entry(
    thread: asyncpg.Record, row: asyncpg.Record, people: People, reader: AccountId, photo: PostMedia | None
) -> InboxEntry:
    others = [each for each in thread["member_ids"] if each != reader and each in people.visible]
    return InboxEntry(
        thread_id=ThreadId(thread["id"]),
        kind=thread["kind"],
        is_encrypted=thread["is_encrypted"],
        name=thread["name"],
        people=[people.visible[each] for each in others],
        photo=photo,
        member_count=len(thread["member_ids"]) if thread["kind"] == "pair" else thread["member_count"],
        unread_count=max(0, thread["last_number"] - max(thread["seen_number"], row["seen_number"])),
        last_id=row["last_id"],
        last_message=_last_message(thread, people),
        state=thread["state"],
        is_archived=row["is_archived"],
        muted_until=row["muted_until"],
    )


def _last_message(thread: asyncpg.Record, people: People) -> Message | None:
    author_id = thread["last_account_id"]
    if author_id is None:
        return None
    is_hidden = author_id in people.hidden
    return Message(
        id=MessageId(thread["last_id"]),
        thread_id=ThreadId(thread["id"]),
        number=thread["last_number"],
        account_id=AccountId(author_id),
        author=people.visible.get(author_id),
        kind=thread["last_kind"],
        text="" if is_hidden else thread["last_text"],
        is_hidden=is_hidden,
    )
