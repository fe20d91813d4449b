"""Topics: the posts of a hashtag or place, together on the shard that the topic hashes to: a page reads one shard.

Only posts that everybody may see are listed: a private account's posts are not, and leave when it becomes private. What
changed a moment ago is caught when a page is read, because posts are shown through `Posts` as the viewer sees them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from tintype.accounts import PrivacyChanged, StatusChanged
from tintype.base.ids import LARGEST_ID, AccountId, PostId, has_shard
from tintype.base.jobs import Handler, on
from tintype.base.replica_reads import replica_reader
from tintype.posts import Post, PostEdited, PostImported, PostPublished, PostRemoved
from tintype.search.captions import Captions
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
from tintype.search.public_posts import is_public_post
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

    def __init__(
        self, deps: SearchDependencies, captions: Captions, on_count_changed: OnCountChanged
    ) -> None:
        self._shards, self._posts, self._on_count_changed = deps.shards, deps.posts, on_count_changed
        self._captions = captions
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
            cursor = TopicCursor(last.score, last.post_id, last.posted_at) if last else None
            if cursor is None or len(shown) == limit:
                break
        return shown, cursor

    async def index(self, post_id: PostId, author_id: AccountId) -> None:
        """List the post under its hashtags, its place and the words of its caption, as far as it is public now.

        Safe to repeat and to reorder.
        """
        if has_shard(self._shards, post_id):
            await self._index_topics(post_id, author_id)
            await self._captions.index(post_id, author_id)

    async def _index_topics(
        self, post_id: PostId, author_id: AccountId, probable: frozenset[str] = frozenset()
    ) -> None:
        """List the post under its hashtags and place; `probable` are those that it named when this was called for."""

        async def read() -> EntriesByKey:
            row = await self._shards.owner(post_id).fetch_one(QUERIES.read_post_topics, post_id=post_id)
            if row is None or not is_public_post(row):
                return {}
            listed = [IndexEntry("", "", row["score"], posted_at=row["posted_at"])]
            return dict.fromkeys(_topics(row["hashtags"], row["place_id"]), listed)

        if has_shard(self._shards, post_id):
            await self._run(post_id, author_id, read, probable)

    async def remove(self, post_id: PostId, author_id: AccountId) -> None:
        """List the post under no topic, and no word of its caption."""

        async def read() -> EntriesByKey:
            return {}

        await self._run(post_id, author_id, read)
        await self._captions.remove(post_id, author_id)

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
            on(PostPublished, self._on_published, name="search-post-published", many=True),
            on(PostImported, self._on_imported, name="search-post-imported"),
            on(PostEdited, self._on_post, name="search-post-edited"),
            on(PostRemoved, self._on_post, name="search-post-removed"),
            on(PrivacyChanged, self._on_author, name="search-posts-privacy"),
            on(StatusChanged, self._on_author, name="search-posts-status"),
        ]

    async def _on_published(self, events: list[PostPublished]) -> None:
        """List posts; one that is new and names no topic was never listed, and its edits are events of their own."""
        new = {event.post_id: event for event in events if event.is_new}
        again = {event.post_id: event for event in events if not event.is_new}
        named = {each: frozenset(_topics(event.hashtags, event.place_id)) for each, event in new.items()}
        await asyncio.gather(
            *(self.index(each, event.author_id) for each, event in again.items()),
            *(
                self._index_topics(each, new[each].author_id, topics)
                for each, topics in named.items()
                if topics
            ),
        )
        await self._captions.index_new([(each, event.author_id) for each, event in new.items()])

    async def _on_imported(self, event: PostImported) -> None:
        """List an imported post."""
        await self.index(event.post_id, event.author_id)

    async def _on_post(self, event: PostEdited | PostRemoved) -> None:
        await self.index(event.post_id, event.author_id)

    async def _on_author(self, event: PrivacyChanged | StatusChanged) -> None:
        await self.index_all_of(event.account_id)

    async def _run(
        self, post_id: PostId, author_id: AccountId, read: Read, probable: frozenset[str] = frozenset()
    ) -> None:
        async def write(topic: str, revision: int, entries: Sequence[IndexEntry]) -> None:
            before, now = await self._put(topic, post_id, author_id, revision, entries)
            if popularity_weight(before) != popularity_weight(now):
                await self._on_count_changed(topic)

        subject = IndexedSubject(
            self._shards.owner(post_id), KIND, str(post_id), owner_id=author_id, probable_keys=probable
        )
        await self._writer.run(subject, read, write)

    async def _put(
        self, topic: str, post_id: PostId, author_id: AccountId, revision: int, entries: Sequence[IndexEntry]
    ) -> tuple[int, int]:
        """List or unlist a post; returns the count before and now."""
        if not entries:
            return await self._unlist(topic, post_id)
        shard = self._shards.of(topic)
        row = {
            "topic": topic,
            "post_id": post_id,
            "author_id": author_id,
            "revision": revision,
            "score": entries[0].weight,
            "posted_at": entries[0].posted_at,
        }
        counts = await shard.fetch_one(QUERIES.list_post, **row)
        if counts is None:
            await shard.execute(QUERIES.create_topic, topic=topic)
            counts = await shard.fetch_one(QUERIES.list_post, **row)
            assert counts is not None, "topics are never deleted"  # noqa: S101 - narrows the type
        return counts["before"], counts["now"]

    async def _unlist(self, topic: str, post_id: PostId) -> tuple[int, int]:
        async with self._shards.of(topic).begin() as tx:
            locked = await tx.fetch_one(QUERIES.lock_topic, topic=topic)
            if locked is None:
                return 0, 0
            delta = -1 if await tx.fetch_one(QUERIES.unlist_post, topic=topic, post_id=post_id) else 0
            if delta:
                await tx.execute(QUERIES.count_topic, topic=topic, delta=delta)
        before: int = locked["post_count"]
        return before, before + delta

    async def _read(self, topic: str, order: TopicOrder, after: TopicCursor, limit: int) -> list[TopicPost]:
        shard = replica_reader(self._shards).of(topic)
        if order == "newest":
            rows = await shard.fetch(
                QUERIES.page_newest,
                topic=topic,
                post_id=after.post_id,
                posted_at=after.posted_at,
                limit=limit,
            )
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
