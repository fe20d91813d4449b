"""Hashtag pages over HTTP."""

from typing import Annotated

from litestar import Controller, get
from litestar.params import PathParameter, QueryParameter

from tintype.accounts import Account
from tintype.api import scopes
from tintype.api.cursors import decode_place, encode_place
from tintype.api.given import Cursor, Guest, House, Limit
from tintype.api.search import TagView, show_tag
from tintype.api.shown import show_posts
from tintype.api.views import PostsView
from tintype.base.errors import CursorInvalid
from tintype.search import START, Order, Spot, tag_topic
from tintype.wiring import Rooms

PathTag = Annotated[str, PathParameter(description="A hashtag, with or without its #.", max_length=200)]
PageOrder = Annotated[Order, QueryParameter(description="The newest first, or the most liked.")]


class TagsApi(Controller):
    """Hashtags and their posts."""

    path = "/api/v1/tags"
    tags = ("Search",)

    @get("/{tag:str}", summary="A hashtag", scope=scopes.READ)
    async def one(self, tag: PathTag, guest: Guest, rooms: House) -> TagView:  # noqa: ARG002 - a wrong token is refused
        """A tag and how many public posts carry it."""
        return show_tag(await rooms.search.tags.get(tag))

    @get("/{tag:str}/posts", summary="The posts of a hashtag", scope=scopes.READ)
    async def posts(
        self,
        *,
        tag: PathTag,
        guest: Guest,
        rooms: House,
        order: PageOrder = "newest",
        cursor: Cursor = None,
        limit: Limit = 24,
    ) -> PostsView:
        """Public posts that the viewer may see."""
        found = await rooms.search.tags.get(tag)
        return await page_of(rooms, tag_topic(found.tag), guest, order=order, cursor=cursor, limit=limit)


async def page_of(
    rooms: Rooms, topic: str, viewer: Account | None, *, order: Order, cursor: str | None, limit: int
) -> PostsView:
    """A page of a tag or place."""
    viewer_id = viewer.id if viewer else None
    posts, after = await rooms.search.topics.page(
        topic, viewer=viewer_id, order=order, after=_spot(cursor), limit=limit
    )
    shown = await show_posts(rooms, viewer, posts)
    return PostsView(shown, encode_place(after.score, after.post_id) if after else None, after is not None)


def _spot(cursor: str | None) -> Spot:
    if not cursor:
        return START
    score, post_id = decode_place(cursor, 2)
    if abs(score) > START.score:
        raise CursorInvalid
    return Spot(score, post_id)
