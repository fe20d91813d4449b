"""The posts of a tag or a place, kept together on the shard that its key hashes to, so that its page reads one shard.

Only posts that everybody may see are listed: a private account's posts are not, and leave when it becomes private. What
changed a moment ago is caught when the page is read, because posts are shown through `Posts` as the viewer sees them.
"""

from collections.abc import Awaitable, Callable, Sequence

from shardwright.running import Shards
from tintype.accounts import PrivacyChanged, StatusChanged
from tintype.base.ids import LARGEST_ID, AccountId, PostId, has_shard
from tintype.base.jobs import Handler, on
from tintype.posts import Post, PostEdited, PostPublished, PostRemoved, Posts
from tintype.search.filing import QUERIES, Entry, Filer, Subject, Wanted
from tintype.search.models import Listed, Order, Spot
from tintype.search.words import tag_key, weigh

KIND = "post"
TAG, PLACE = "tag:", "place:"
MOST_READS = 4
"""How often a page is read on when most of what it holds may not be seen."""
PAGE = 500
HIGHEST_SCORE = 2**31 - 1
START = Spot(HIGHEST_SCORE, LARGEST_ID)


Recount = Callable[[str], Awaitable[None]]
"""Told when a topic's count has moved a step, so that it can be filed anew under its name."""


class Topics:
    """Tags and places with their posts."""

    def __init__(self, shards: Shards, posts: Posts, recount: Recount) -> None:
        self._shards, self._posts, self._recount = shards, posts, recount
        self._filer = Filer(shards)

    async def count(self, topic: str) -> int:
        """How many public posts it has."""
        found: int | None = await self._shards.of(topic).fetch_value(QUERIES.find_topic, topic=topic)
        return max(0, found or 0)

    async def page(
        self, topic: str, *, viewer: AccountId | None, order: Order, after: Spot = START, limit: int
    ) -> tuple[list[Post], Spot | None]:
        """A page of posts the viewer may see, and where the next one begins."""
        shown: list[Post] = []
        spot: Spot | None = after
        for _ in range(MOST_READS):
            assert spot is not None  # noqa: S101 - narrows the type: the loop ends where the list does
            wanted = limit - len(shown)
            listed = await self._read(topic, order, spot, wanted + 1)
            found = await self._posts.find_many((each.post_id for each in listed[:wanted]), viewer=viewer)
            shown += [found[each.post_id] for each in listed[:wanted] if each.post_id in found]
            last = listed[wanted - 1] if len(listed) > wanted else None
            spot = Spot(last.score, last.post_id) if last else None
            if spot is None or len(shown) == limit:
                break
        return shown, spot

    async def file(self, post_id: PostId, author_id: AccountId) -> None:
        """The pages list this post as is right now; safe to repeat and to reorder."""

        async def read() -> Wanted:
            row = await self._shards.owner(post_id).fetch_one(QUERIES.read_post_topics, post_id=post_id)
            if row is None:
                return {}
            listed = [Entry("", "", row["score"])]
            return dict.fromkeys(_topics(row["hashtags"], row["place_id"]), listed)

        if has_shard(self._shards, post_id):
            await self._run(post_id, author_id, read)

    async def withdraw(self, post_id: PostId, author_id: AccountId) -> None:
        """No page lists this post."""

        async def read() -> Wanted:
            return {}

        await self._run(post_id, author_id, read)

    async def file_all_of(self, author_id: AccountId) -> None:
        """All posts of somebody are listed as is right, now that this has changed for all at once."""
        after = 0
        while has_shard(self._shards, author_id):
            rows = await self._shards.owner(author_id).fetch(
                QUERIES.page_posts_of, author_id=author_id, after=after, limit=PAGE
            )
            for row in rows:
                after = row["id"]
                await self.file(PostId(after), author_id)
            if len(rows) < PAGE:
                return

    async def unlist(self, topic: str, post_id: PostId) -> None:
        """One page no longer lists this post."""
        await self._put(topic, post_id, AccountId(0), 0, ())

    def handlers(self) -> list[Handler]:
        """The pages follow what happens to posts and their authors."""

        async def on_post(event: PostPublished | PostEdited | PostRemoved) -> None:
            await self.file(event.post_id, event.author_id)

        async def on_author(event: PrivacyChanged | StatusChanged) -> None:
            await self.file_all_of(event.account_id)

        return [
            on(PostPublished, on_post, name="search-post-published"),
            on(PostEdited, on_post, name="search-post-edited"),
            on(PostRemoved, on_post, name="search-post-removed"),
            on(PrivacyChanged, on_author, name="search-posts-privacy"),
            on(StatusChanged, on_author, name="search-posts-status"),
        ]

    async def _run(
        self, post_id: PostId, author_id: AccountId, read: Callable[[], Awaitable[Wanted]]
    ) -> None:
        async def write(topic: str, revision: int, entries: Sequence[Entry]) -> None:
            before, now = await self._put(topic, post_id, author_id, revision, entries)
            if weigh(before) != weigh(now):
                await self._recount(topic)

        subject = Subject(self._shards.owner(post_id), KIND, str(post_id), owner_id=author_id)
        await self._filer.run(subject, read, write)

    async def _put(
        self, topic: str, post_id: PostId, author_id: AccountId, revision: int, entries: Sequence[Entry]
    ) -> tuple[int, int]:
        """List or unlist a post; returns the count before and now."""
        which = {"topic": topic, "post_id": post_id}
        async with self._shards.of(topic).begin() as tx:
            if entries:
                await tx.execute(QUERIES.open_topic, topic=topic)
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

    async def _read(self, topic: str, order: Order, after: Spot, limit: int) -> list[Listed]:
        shard = self._shards.of(topic)
        if order == "newest":
            rows = await shard.fetch(QUERIES.page_newest, topic=topic, post_id=after.post_id, limit=limit)
        else:
            rows = await shard.fetch(
                QUERIES.page_top, topic=topic, score=after.score, post_id=after.post_id, limit=limit
            )
        return [Listed(**row) for row in rows]


def tag_topic(tag: str) -> str:
    """The topic of a tag, in whatever case it is written."""
    return f"{TAG}{tag_key(tag)}"


def place_topic(place_id: str) -> str:
    """The topic of a place."""
    return f"{PLACE}{place_id}"


def _topics(hashtags: Sequence[str], place_id: str | None) -> set[str]:
    found = {tag_topic(tag) for tag in hashtags if tag_key(tag)}
    return found | {place_topic(place_id)} if place_id else found
