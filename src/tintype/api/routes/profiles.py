"""Profiles and lists of posts over HTTP."""

from typing import Any

from litestar import Controller, Request, Response, get
from litestar.params import FromPath

from tintype.api.http import scopes
from tintype.api.http.cursors import decode_cursor
from tintype.api.http.dependencies import (
    Cursor,
    Guest,
    InjectedRooms,
    Limit,
    PathId,
    Viewer,
    id_of,
    parse_account_id,
)
from tintype.api.http.etags import NOT_MODIFIED, with_etag
from tintype.api.views.accounts import ProfileView, show_profile
from tintype.api.views.context import context_for
from tintype.api.views.grid_fragments import GridFragments
from tintype.api.views.post_presenter import show_page
from tintype.api.views.posts import PostsView


class ProfilesApi(Controller):
    """Profiles, and the lists of posts that belong to an account."""

    path = "/api/v1"
    tags = ("Profiles",)

    @get(
        "/profiles/{username:str}",
        summary="A profile",
        scope=scopes.READ,
        responses=NOT_MODIFIED,
        lean=True,
    )
    async def profile(
        self, request: Request[Any, Any, Any], username: FromPath[str], guest: Guest, rooms: InjectedRooms
    ) -> Response[ProfileView]:
        """The account, how the viewer is related to it, and its first twelve posts."""
        found = await rooms.profiles.get(username, viewer=id_of(guest))
        if guest is not None:
            rooms.ranking.record_visit(guest.id, found.account.account.id)
        fragments: GridFragments = request.app.state.grid_fragments
        return with_etag(request, show_profile(found, context_for(guest, rooms), fragments))

    @get(
        "/accounts/{account_id:str}/posts",
        summary="An account's posts",
        scope=scopes.READ,
        responses=NOT_MODIFIED,
    )
    async def list_posts(
        self,
        request: Request[Any, Any, Any],
        account_id: PathId,
        guest: Guest,
        rooms: InjectedRooms,
        *,
        cursor: Cursor = None,
        limit: Limit = 12,
    ) -> Response[PostsView]:
        """In the order of the profile: pinned posts first, then the newest first."""
        page = await rooms.profiles.page(
            parse_account_id(account_id),
            viewer=id_of(guest),
            before=decode_cursor(cursor),
            limit=limit,
        )
        return with_etag(request, await show_page(rooms, guest, page))

    @get("/accounts/{account_id:str}/tagged", summary="Posts an account is tagged in", scope=scopes.READ)
    async def tagged_in(
        self, account_id: PathId, guest: Guest, rooms: InjectedRooms, cursor: Cursor = None, limit: Limit = 12
    ) -> PostsView:
        """Those that the viewer may see, newest first."""
        page = await rooms.posts.page_tagged_in(
            parse_account_id(account_id),
            viewer=id_of(guest),
            before=decode_cursor(cursor),
            limit=limit,
        )
        return await show_page(rooms, guest, page)

    @get("/accounts/me/likes", summary="Posts I liked", scope=scopes.READ)
    async def own_likes(
        self, viewer: Viewer, rooms: InjectedRooms, cursor: Cursor = None, limit: Limit = 12
    ) -> PostsView:
        """Posts that the viewer liked, the latest like first."""
        page = await rooms.posts.page_own_likes(viewer.id, before=decode_cursor(cursor), limit=limit)
        return await show_page(rooms, viewer, page)

    @get("/accounts/me/archive", summary="My archive", scope=scopes.READ)
    async def archive(
        self, viewer: Viewer, rooms: InjectedRooms, cursor: Cursor = None, limit: Limit = 12
    ) -> PostsView:
        """The viewer's archived posts, newest first; nobody else sees them."""
        page = await rooms.posts.page_archived(viewer.id, before=decode_cursor(cursor), limit=limit)
        return await show_page(rooms, viewer, page)
