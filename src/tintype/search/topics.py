"""Topics: the posts of a hashtag or place, together on the shard that the topic hashes to: a page reads one shard.

Only posts that everybody may see are listed: a private account's posts are not, and leave when it becomes private. What
changed a moment ago is caught when a page is read, because posts are shown through `Posts` as the viewer sees them.
"""

from collections.abc import Awaitable, Callable, Sequence

import asyncpg

from tintype.accounts import PrivacyChanged, StatusChanged
from tintype.base.ids import LARGEST_ID, AccountId, PostId, has_shard
from tintype.base.jobs import Handler, on
from tintype.graph import visibility_rules
from tintype.posts import Post, PostEdited, PostPublished, PostRemoved
from tintype.search.dependencies import SearchDependencies
from tintype.search.index_writer import (
    EntriesByKey,
    IndexedSubject,
    IndexEntry,
    IndexWriter,
    Read,
    popularity_weight,
)
from tintype.search.models import TopicCursor, TopicOrder, TopicPost
from tintype.search.normalize import typed_hashtag_key
from tintype.search.store import QUERIES

KIND = "post"
TAG, PLACE = "tag:", "place:"
MAX_READS = 4
"""How often more posts are read to fill a page when some of them may not be seen."""
PAGE = 500
HIGHEST_SCORE = 2**31 - 1
FIRST_PAGE = TopicCursor(HIGHEST_SCORE, LARGEST_ID)
OnCountChanged = Callable[[str], Awaitable[None]]
"""Called when a topic's count has moved to another weight, so that its name is indexed with the new one."""


class Topics:
    """Hashtags and places with their public posts."""

    def __init__(self, deps: SearchDependencies, on_count_changed: OnCountChanged) -> None:
        self._shards, self._posts, self._on_count_changed = deps.shards, deps.posts, on_count_changed
        self._writer = IndexWriter(deps.shards)

    async def count(self, topic: str) -> int:
        """How many public posts a topic has."""
        found: int | None = await self._shards.of(topic).fetch_value(QUERIES.find_topic, topic=topic)
        return max(0, found or 0)

    async def page(
        self, topic: str, *, viewer: AccountId | None, order: TopicOrder, after: TopicCursor, limit: int
    ) -> tuple[list[Post], TopicCursor | None]:
        """A page of posts the viewer may see, and the cursor of the next page."""
        shown: list[Post] = []
        cursor: TopicCursor | None = after
        for _ in range(MAX_READS):
            assert cursor is not None  # noqa: S101 - narrows the type: the loop ends where the list does
            wanted = limit - len(shown)
            listed = await self._read(topic, order, cursor, wanted + 1)
            found = await self._posts.find_many((each.post_id for each in listed[:wanted]), viewer=viewer)
            shown += [found[each.post_id] for each in listed[:wanted] if each.post_id in found]
            last = listed[wanted - 1] if len(listed) > wanted else None
            cursor = TopicCursor(last.score, last.post_id) if last else None
            if cursor is None or len(shown) == limit:
                break
        return shown, cursor

    async def index(self, post_id: PostId, author_id: AccountId) -> None:
        """List the post under its hashtags and place, as far as it is public now; safe to repeat and to reorder."""

        async def read() -> EntriesByKey:
            row = await self._shards.owner(post_id).fetch_one(QUERIES.read_post_topics, post_id=post_id)
            if row is None or not is_public_post(row):
                return {}
            listed = [IndexEntry("", "", row["score"])]
            return dict.fromkeys(_topics(row["hashtags"], row["place_id"]), listed)

        if has_shard(self._shards, post_id):
            await self._run(post_id, author_id, read)

    async def remove(self, post_id: PostId, author_id: AccountId) -> None:
        """List the post under no topic."""

        async def read() -> EntriesByKey:
            return {}

        await self._run(post_id, author_id, read)

    async def index_all_of(self, author_id: AccountId) -> None:
        """Index every post of an author, after a change that concerns them all, such as becoming private."""
        after = 0
        while has_shard(self._shards, author_id):
            rows = await self._shards.owner(author_id).fetch(
                QUERIES.page_posts_of, author_id=author_id, after=after, limit=PAGE
            )
            for row in rows:
                after = row["id"]
                await self.index(PostId(after), author_id)
            if len(rows) < PAGE:
                return

    async def unlist(self, topic: str, post_id: PostId) -> None:
        """Remove a post from one topic."""
        await self._put(topic, post_id, AccountId(0), 0, ())

    def handlers(self) -> list[Handler]:
        """Keep topics in line with posts and the privacy and status of their authors."""
        return [
            on(PostPublished, self._on_published, name="search-post-published"),
            on(PostEdited, self._on_post, name="search-post-edited"),
            on(PostRemoved, self._on_post, name="search-post-removed"),
            on(PrivacyChanged, self._on_author, name="search-posts-privacy"),
            on(StatusChanged, self._on_author, name="search-posts-status"),
        ]

    async def _on_published(self, event: PostPublished) -> None:
        """List a post; one that is new and names no topic was never listed, and its edits are events of their own."""
        if not event.is_new or event.hashtags or event.place_id is not None:
            await self.index(event.post_id, event.author_id)

    async def _on_post(self, event: PostEdited | PostRemoved) -> None:
        await self.index(event.post_id, event.author_id)

    async def _on_author(self, event: PrivacyChanged | StatusChanged) -> None:
        await self.index_all_of(event.account_id)

    async def _run(self, post_id: PostId, author_id: AccountId, read: Read) -> None:
        async def write(topic: str, revision: int, entries: Sequence[IndexEntry]) -> None:
            before, now = await self._put(topic, post_id, author_id, revision, entries)
            if popularity_weight(before) != popularity_weight(now):
                await self._on_count_changed(topic)

        subject = IndexedSubject(self._shards.owner(post_id), KIND, str(post_id), owner_id=author_id)
        await self._writer.run(subject, read, write)

    async def _put(
        self, topic: str, post_id: PostId, author_id: AccountId, revision: int, entries: Sequence[IndexEntry]
    ) -> tuple[int, int]:
        """List or unlist a post; returns the count before and now."""
        which = {"topic": topic, "post_id": post_id}
        async with self._shards.of(topic).begin() as tx:
            if entries:
                await tx.execute(QUERIES.create_topic, topic=topic)
            locked = await tx.fetch_one(QUERIES.lock_topic, topic=topic)
            if locked is None:
                return 0, 0
            delta = 0
            if not entries:
                delta = -1 if await tx.fetch_one(QUERIES.unlist_post, **which) else 0
            else:
                row = {**which, "author_id": author_id, "score": entries[0].weight, "revision": revision}
                is_new = await tx.fetch_value(QUERIES.list_post, **row, trimmed_id=locked["trimmed_id"])
                delta = 1 if is_new else 0
            if delta:
                await tx.execute(QUERIES.count_topic, topic=topic, delta=delta)
        before: int = locked["post_count"]
        return before, before + delta

    async def _read(self, topic: str, order: TopicOrder, after: TopicCursor, limit: int) -> list[TopicPost]:
        shard = self._shards.of(topic)
        if order == "newest":
            rows = await shard.fetch(QUERIES.page_newest, topic=topic, post_id=after.post_id, limit=limit)
        else:
            rows = await shard.fetch(
                QUERIES.page_top, topic=topic, score=after.score, post_id=after.post_id, limit=limit
            )
        return [TopicPost(**row) for row in rows]


def tag_topic(tag: str) -> str:
    """The topic of a hashtag, in whatever case it is written."""
    return f"{TAG}{typed_hashtag_key(tag)}"


def place_topic(place_id: str) -> str:
    """The topic of a place."""
    return f"{PLACE}{place_id}"


def _topics(hashtags: Sequence[str], place_id: str | None) -> set[str]:
    found = {tag_topic(tag) for tag in hashtags if typed_hashtag_key(tag)}
    return found | {place_topic(place_id)} if place_id else found


def is_public_post(row: asyncpg.Record) -> bool:
    """Whether everybody may see a post, by the facts in its row."""
    return visibility_rules.is_public_post(
        is_active=row["is_active"], is_private=row["is_private"], is_shown=row["is_shown"]
    )
