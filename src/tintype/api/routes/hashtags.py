"""Hashtag pages over HTTP."""

from typing import Annotated

import msgspec
from litestar import Controller, get
from litestar.di import NamedDependency, Provide
from litestar.params import PathParameter, QueryParameter

from tintype.accounts import Account
from tintype.api.http import scopes
from tintype.api.http.cursors import decode_compound_cursor, encode_compound_cursor
from tintype.api.http.dependencies import Cursor, Guest, InjectedRooms, Limit, id_of
from tintype.api.views.post_presenter import show_posts
from tintype.api.views.posts import PostsView
from tintype.api.views.search import TagView, show_tag
from tintype.base.errors import CursorInvalid
from tintype.search import FIRST_PAGE, TopicCursor, TopicOrder, tag_topic
from tintype.wiring import Rooms

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


class HashtagsApi(Controller):
    """Hashtags and their posts."""

    path = "/api/v1/tags"
    dependencies = TOPIC_PAGE
    tags = ("Search",)

    @get("/{tag:str}", summary="A hashtag", scope=scopes.READ)
    async def one(self, tag: PathTag, guest: Guest, rooms: InjectedRooms) -> TagView:  # noqa: ARG002 - a wrong token is refused
        """A hashtag and how many public posts have it."""
        return show_tag(await rooms.search.get_tag(tag))

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
    next_cursor = encode_compound_cursor(after.score, after.post_id) if after else None
    return PostsView(shown, next_cursor, after is not None)


def _read_cursor(cursor: str | None) -> TopicCursor:
    if not cursor:
        return FIRST_PAGE
    score, post_id = decode_compound_cursor(cursor, 2)
    if abs(score) > FIRST_PAGE.score:
        raise CursorInvalid
    return TopicCursor(score, post_id)
