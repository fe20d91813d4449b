"""Fans new posts out to timelines and reads them back, with every visibility check at reading time."""

from dataclasses import dataclass

from tintype.base.ids import AccountId, PostId
from tintype.base.jobs import Handler, on
from tintype.base.log import get_log
from tintype.feed.timelines import Timelines
from tintype.feed.visible import Entry, Visible
from tintype.graph import FollowChanged, Graph
from tintype.posts import PostPublished, Posts

log = get_log("feed")


@dataclass(frozen=True)
class FeedPage:
    """What to show, and where the next page begins."""

    entries: list[Entry]
    next_cursor: str | None


class Feed:
    """The home feed in chronological order."""

    def __init__(self, timelines: Timelines, graph: Graph, posts: Posts, visible: Visible) -> None:
        self._timelines, self._graph, self._posts, self._visible = timelines, graph, posts, visible

    async def read(self, reader: AccountId, *, mode: str, cursor: str | None, limit: int) -> FeedPage:
        """A page of the feed. Unfollowing shows at once, whatever the timeline still holds."""
        entries = await self._timelines.read(reader)
        if entries is None:
            entries = await self._rebuild(reader)
        older = [entry for entry in entries if not cursor or entry < int(cursor)]
        page: list[Entry] = []
        while older and len(page) < limit:
            batch, older = older[:limit], older[limit:]
            page += await self._visible.read(reader, batch)
        has_more = len(page) > limit or bool(older)
        page = page[:limit]
        return FeedPage(page, str(page[-1].id) if page and has_more else None)

    async def fan_out(self, published: PostPublished) -> None:
        """Put a post on the timelines of its author and followers; safe to repeat."""
        await self._timelines.push(published.post_id, [published.author_id])
        async for page in self._graph.pages_of_followers(published.author_id):
            await self._timelines.push(published.post_id, page)

    async def follow_changed(self, change: FollowChanged) -> None:
        """A new followee's posts must show: rebuild at the next read."""
        if change.is_following:
            await self._timelines.drop(change.follower_id)

    def handlers(self) -> list[Handler]:
        """What the feed does when something has happened."""
        return [
            on(PostPublished, self.fan_out, name="feed-fan-out"),
            on(FollowChanged, self.follow_changed, name="feed-follow-changed"),
        ]

    async def _rebuild(self, reader: AccountId) -> list[PostId]:
        await self._timelines.open(reader)
        authors = [reader, *await self._graph.list_followees(reader)]
        posts = await self._posts.recent_of(authors)
        await self._timelines.fill(reader, posts)
        log.info("timeline.rebuilt", reader_id=reader, entries=len(posts))
        return posts
