"""Posts and likes over HTTP."""

from typing import Any

from litestar import Controller, Request, Response, delete, get, patch, post, put
from litestar.params import JSONBody

from tintype.accounts import Account
from tintype.api.http import scopes
from tintype.api.http.cursors import decode_cursor
from tintype.api.http.dependencies import (
    Cursor,
    Guest,
    IdempotencyKey,
    InjectedRooms,
    Limit,
    PostRef,
    Viewer,
    id_of,
    parse_post_id,
)
from tintype.api.http.etags import NOT_MODIFIED, with_etag
from tintype.api.routes.post_bodies import NewPost, PostEdit, make_post_draft, read_edit
from tintype.api.views.people import PeopleView, show_people
from tintype.api.views.post_presenter import show_new_post, show_posts
from tintype.api.views.posts import PostView
from tintype.base.ids import PostId
from tintype.posts import PostNotFound
from tintype.wiring import Rooms


class PostsApi(Controller):
    """Posts."""

    path = "/api/v1"
    tags = ("Posts",)

    @post("/posts", summary="Publish a post", scope=scopes.POSTS_WRITE, lean=True)
    async def publish(
        self,
        data: JSONBody[NewPost],
        viewer: Viewer,
        rooms: InjectedRooms,
        idempotency_key: IdempotencyKey = None,
    ) -> PostView:
        """Publish once, however often the same Idempotency-Key is sent."""
        draft = make_post_draft(data)
        published = await rooms.posts.publish_draft(viewer.id, draft, idempotency_key or None)
        if not published.is_new:
            return await _show_one(rooms, viewer, published.post_id)
        new = published.post or await rooms.posts.get_new(published.post_id)
        return await show_new_post(rooms, viewer, new)

    @get("/posts/{post_id:str}", summary="One post", scope=scopes.READ, responses=NOT_MODIFIED, lean=True)
    async def one(
        self, request: Request[Any, Any, Any], post_id: PostRef, guest: Guest, rooms: InjectedRooms
    ) -> Response[PostView]:
        """A post as the viewer sees it, by its id or by the short code of its permalink."""
        return with_etag(request, await _show_one(rooms, guest, parse_post_id(post_id)))

    @patch("/posts/{post_id:str}", summary="Edit a post", scope=scopes.POSTS_WRITE)
    async def edit(
        self, post_id: PostRef, data: JSONBody[PostEdit], viewer: Viewer, rooms: InjectedRooms
    ) -> PostView:
        """Change caption, alt texts, tags, place or options; what is left out stays."""
        number = parse_post_id(post_id)
        await rooms.posts.edit(number, viewer.id, read_edit(data))
        return await _show_one(rooms, viewer, number)

    @delete("/posts/{post_id:str}", summary="Delete a post", scope=scopes.POSTS_WRITE)
    async def remove(self, post_id: PostRef, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Hide the post at once; it is deleted with its photos some weeks later."""
        await rooms.posts.delete(parse_post_id(post_id), viewer.id)

    @put("/posts/{post_id:str}/archive", summary="Archive", status_code=204, scope=scopes.POSTS_WRITE)
    async def archive(self, post_id: PostRef, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Archive a post: only its author sees it."""
        await rooms.posts.archive(parse_post_id(post_id), viewer.id)

    @delete("/posts/{post_id:str}/archive", summary="Unarchive", scope=scopes.POSTS_WRITE)
    async def unarchive(self, post_id: PostRef, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Show a post again."""
        await rooms.posts.unarchive(parse_post_id(post_id), viewer.id)

    @put("/posts/{post_id:str}/pin", summary="Pin", status_code=204, scope=scopes.POSTS_WRITE)
    async def pin(self, post_id: PostRef, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Pin a post to the top of one's profile; at most three."""
        await rooms.posts.pin(parse_post_id(post_id), viewer.id)

    @delete("/posts/{post_id:str}/pin", summary="Unpin", scope=scopes.POSTS_WRITE)
    async def unpin(self, post_id: PostRef, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Unpin a post."""
        await rooms.posts.unpin(parse_post_id(post_id), viewer.id)

    @delete("/posts/{post_id:str}/tags/me", summary="Remove my tag", scope=scopes.POSTS_WRITE)
    async def untag(self, post_id: PostRef, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Remove the viewer's tags from a post."""
        await rooms.posts.untag(parse_post_id(post_id), viewer.id)

    @put("/posts/{post_id:str}/like", summary="Like", status_code=204, scope=scopes.LIKES_WRITE, lean=True)
    async def like(self, post_id: PostRef, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Like a post; liking twice counts once."""
        await rooms.posts.like(parse_post_id(post_id), viewer.id)

    @delete("/posts/{post_id:str}/like", summary="Unlike", scope=scopes.LIKES_WRITE, lean=True)
    async def unlike(self, post_id: PostRef, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Unlike a post."""
        await rooms.posts.unlike(parse_post_id(post_id), viewer.id)

    @get("/posts/{post_id:str}/likes", summary="Who liked it", scope=scopes.READ)
    async def likers(
        self, post_id: PostRef, guest: Guest, rooms: InjectedRooms, cursor: Cursor = None, limit: Limit = 20
    ) -> PeopleView:
        """Those who liked it, the latest first, and how the viewer is related to each."""
        page = await rooms.posts.page_likers(
            parse_post_id(post_id),
            viewer=id_of(guest),
            before=decode_cursor(cursor),
            limit=limit,
        )
        return show_people(page.items, page.next_before)


async def _show_one(rooms: Rooms, viewer: Account | None, post_id: PostId) -> PostView:
    found = await rooms.posts.get(post_id, viewer=id_of(viewer))
    shown = await show_posts(rooms, viewer, [found])
    if not shown:
        raise PostNotFound
    return shown[0]
