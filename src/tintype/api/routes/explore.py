"""Explore over HTTP."""

from litestar import Controller, get

from tintype.api.http import scopes
from tintype.api.http.cursors import decode_compound_cursor, encode_compound_cursor
from tintype.api.http.dependencies import Cursor, Guest, InjectedRooms, Limit, id_of
from tintype.api.views.post_presenter import show_posts
from tintype.api.views.posts import PostsView
from tintype.ranking import ExploreCursor


class ExploreApi(Controller):
    """Posts by people whom the viewer does not follow."""

    path = "/api/v1"
    tags = ("Explore",)

    @get("/explore", summary="Explore", scope=scopes.READ)
    async def explore(
        self, guest: Guest, rooms: InjectedRooms, cursor: Cursor = None, limit: Limit = 24
    ) -> PostsView:
        """Public posts that are popular now, by people whom the viewer does not follow."""
        position = ExploreCursor(*decode_compound_cursor(cursor, 2)) if cursor else ExploreCursor()
        found, following = await rooms.ranking.page_explore(id_of(guest), cursor=position, limit=limit)
        shown = await show_posts(rooms, guest, found)
        next_cursor = encode_compound_cursor(following.order, following.offset) if following else None
        return PostsView(shown, next_cursor, following is not None)
