"""Hashtag pages over HTTP."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

import msgspec
from litestar import Controller, delete, get, put
from litestar.di import NamedDependency, Provide
from litestar.params import PathParameter, QueryParameter

from tintype.accounts import Account
from tintype.api.http import scopes
from tintype.api.http.cursors import decode_compound_cursor, encode_compound_cursor
from tintype.api.http.dependencies import Cursor, Guest, InjectedRooms, Limit, Viewer, id_of
from tintype.api.views.post_presenter import show_posts
from tintype.api.views.posts import PostsView
from tintype.api.views.search import FollowedTagsView, TagPageView
from tintype.base.errors import CursorInvalid
from tintype.search import FIRST_PAGE, TopicCursor, TopicOrder, tag_topic
from tintype.wiring import Rooms

FIRST_TIME, MICROSECOND = datetime.min.replace(tzinfo=UTC), timedelta(microseconds=1)
LAST_MICROSECOND = (datetime.max.replace(tzinfo=UTC) - FIRST_TIME) // MICROSECOND
PathTag = Annotated[str, PathParameter(description="A hashtag, with or without its #.", max_length=200)]
PageOrder = Annotated[TopicOrder, QueryParameter(description="The newest first, or the most liked.")]


class TopicPageRequest(msgspec.Struct, frozen=True):
    """Which page of a topic's posts to show."""

    order: TopicOrder
    after: TopicCursor
    limit: int


async def read_topic_page(
    order: PageOrder = "newest", cursor: Cursor = None, limit: Limit = 24
) -> TopicPageRequest:
    """The page that the query parameters of a request name."""
    return TopicPageRequest(order, _read_cursor(cursor), limit)


InjectedTopicPage = NamedDependency[TopicPageRequest]
TOPIC_PAGE = {"page": Provide(read_topic_page)}


@get("/api/v1/followed-tags", summary="Followed hashtags", tags=["Search"], scope=scopes.READ)
async def followed_tags(viewer: Viewer, rooms: InjectedRooms) -> FollowedTagsView:
    """The hashtags that the viewer follows, the latest first."""
    return FollowedTagsView(await rooms.feed.tags.list_of(viewer.id))


class HashtagsApi(Controller):
    """Hashtags and their posts."""

    path = "/api/v1/tags"
    dependencies = TOPIC_PAGE
    tags = ("Search",)

    @get("/{tag:str}", summary="A hashtag", scope=scopes.READ)
    async def one(self, tag: PathTag, guest: Guest, rooms: InjectedRooms) -> TagPageView:
        """A hashtag, how many public posts have it, and whether the viewer follows it."""
        found = await rooms.search.get_tag(tag)
        follows = guest is not None and await rooms.feed.tags.is_followed(guest.id, found.tag)
        return TagPageView(found.tag, found.post_count, follows)

    @put("/{tag:str}/follow", summary="Follow a hashtag", status_code=204, scope=scopes.GRAPH_WRITE)
    async def follow(self, tag: PathTag, viewer: Viewer, rooms: InjectedRooms) -> None:
        """The newest public posts with this hashtag are part of the viewer's feed. At most 30 can be followed."""
        await rooms.feed.follow_tag(viewer.id, tag)

    @delete("/{tag:str}/follow", summary="Unfollow a hashtag", scope=scopes.GRAPH_WRITE)
    async def unfollow(self, tag: PathTag, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Only posts of people whom the viewer follows are in the feed."""
        await rooms.feed.unfollow_tag(viewer.id, tag)

    @get("/{tag:str}/posts", summary="The posts of a hashtag", scope=scopes.READ)
    async def posts(
        self, tag: PathTag, guest: Guest, rooms: InjectedRooms, page: InjectedTopicPage
    ) -> PostsView:
        """Public posts with this hashtag that the viewer may see."""
        found = await rooms.search.get_tag(tag)
        return await show_topic_page(rooms, tag_topic(found.tag), guest, page)


async def show_topic_page(
    rooms: Rooms, topic: str, viewer: Account | None, page: TopicPageRequest
) -> PostsView:
    """A page of the posts of a hashtag or place."""
    posts, after = await rooms.search.list_posts(
        topic, viewer=id_of(viewer), order=page.order, after=page.after, limit=page.limit
    )
    shown = await show_posts(rooms, viewer, posts)
    return PostsView(shown, _write_cursor(after) if after else None, after is not None)


def _read_cursor(cursor: str | None) -> TopicCursor:
    if not cursor:
        return FIRST_PAGE
    score, post_id, *time = decode_compound_cursor(cursor, 2, 3)
    if abs(score) > FIRST_PAGE.score or any(number > LAST_MICROSECOND for number in time):
        raise CursorInvalid
    return TopicCursor(score, post_id, FIRST_TIME + time[0] * MICROSECOND if time else None)


def _write_cursor(after: TopicCursor) -> str:
    """A cursor; a post with a time of its own has that in it, in microseconds since the first day of the calendar."""
    time = () if after.posted_at is None else ((after.posted_at - FIRST_TIME) // MICROSECOND,)
    return encode_compound_cursor(after.score, after.post_id, *time)
