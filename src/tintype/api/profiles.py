"""Profiles and lists of posts over HTTP."""

from typing import Any

from litestar import Controller, Request, Response, get
from litestar.params import FromPath

from tintype.api import scopes
from tintype.api.cursors import decode_cursor, encode_cursor
from tintype.api.etags import UNCHANGED, tagged
from tintype.api.given import Cursor, Guest, House, Limit, PathId, Viewer, id_from
from tintype.api.shown import show_page
from tintype.api.views import PostsView, ProfileView, picture_of, show_grid_post, show_relation
from tintype.base.ids import AccountId
from tintype.posts import Profile
from tintype.wiring import Rooms


class ProfilesApi(Controller):
    """Somebody's page and what is on it."""

    path = "/api/v1"
    tags = ("Profiles",)

    @get("/profiles/{username:str}", summary="A profile", scope=scopes.READ, responses=UNCHANGED)
    async def profile(
        self, request: Request[Any, Any, Any], username: FromPath[str], guest: Guest, rooms: House
    ) -> Response[ProfileView]:
        """The account, how the viewer stands to it, and its first twelve posts."""
        found = await rooms.profiles.get(username, viewer=guest.id if guest else None)
        if guest is not None:
            rooms.ranking.looking.visit(guest.id, found.seen.account.id)
        return tagged(request, _show(found, rooms))

    @get(
        "/accounts/{account_id:str}/posts",
        summary="An account's posts",
        scope=scopes.READ,
        responses=UNCHANGED,
    )
    async def posts_of(
        self,
        request: Request[Any, Any, Any],
        account_id: PathId,
        guest: Guest,
        rooms: House,
        *,
        cursor: Cursor = None,
        limit: Limit = 12,
    ) -> Response[PostsView]:
        """In the order of the profile: what is pinned first, then the rest, newest first."""
        page = await rooms.profiles.page(
            AccountId(id_from(account_id)),
            viewer=guest.id if guest else None,
            before=decode_cursor(cursor),
            limit=limit,
        )
        return tagged(request, await show_page(rooms, guest, page))

    @get("/accounts/{account_id:str}/tagged", summary="Posts somebody is in", scope=scopes.READ)
    async def tagged_in(
        self, account_id: PathId, guest: Guest, rooms: House, cursor: Cursor = None, limit: Limit = 12
    ) -> PostsView:
        """Newest first, as far as the viewer may see them."""
        page = await rooms.posts.page_tagged_in(
            AccountId(id_from(account_id)),
            viewer=guest.id if guest else None,
            before=decode_cursor(cursor),
            limit=limit,
        )
        return await show_page(rooms, guest, page)

    @get("/accounts/me/likes", summary="What I like", scope=scopes.READ)
    async def own_likes(
        self, viewer: Viewer, rooms: House, cursor: Cursor = None, limit: Limit = 12
    ) -> PostsView:
        """The latest like first."""
        page = await rooms.posts.page_own_likes(viewer.id, before=decode_cursor(cursor), limit=limit)
        return await show_page(rooms, viewer, page)

    @get("/accounts/me/archive", summary="What I put away", scope=scopes.READ)
    async def archive(
        self, viewer: Viewer, rooms: House, cursor: Cursor = None, limit: Limit = 12
    ) -> PostsView:
        """Newest first; nobody else sees these."""
        page = await rooms.posts.page_archived(viewer.id, before=decode_cursor(cursor), limit=limit)
        return await show_page(rooms, viewer, page)


def _show(found: Profile, rooms: Rooms) -> ProfileView:
    account, page = found.seen.account, found.grid
    return ProfileView(
        account_id=str(account.id),
        username=account.username,
        full_name=account.full_name,
        bio=account.bio,
        website=account.website,
        profile_pic_url=picture_of(account),
        is_private=account.is_private,
        is_verified=account.is_verified,
        post_count=account.post_count,
        follower_count=account.follower_count,
        following_count=account.following_count,
        relationship=show_relation(found.seen.relation),
        shows_posts=found.seen.shows_content,
        posts=[
            show_grid_post(post, rooms.shards.map.layout, rooms.media.addresses, signed=account.is_private)
            for post in page.items
        ],
        next_cursor=encode_cursor(page.next_before),
        has_more=page.next_before is not None,
    )
