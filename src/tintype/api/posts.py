"""Posting and liking over HTTP."""

from typing import Annotated, Any

from litestar import Controller, Request, Response, delete, get, patch, post, put
from litestar.params import HeaderParameter, JSONBody

from tintype.accounts import Account
from tintype.api import scopes
from tintype.api.cursors import decode_cursor, encode_cursor
from tintype.api.drafts import NewPost, PostEdit, read_edit, read_place, read_tags
from tintype.api.etags import UNCHANGED, tagged
from tintype.api.given import Cursor, Guest, House, Limit, PostRef, Viewer, id_from, post_from
from tintype.api.shown import show_posts
from tintype.api.views import PeopleView, PostView, show_person
from tintype.base.ids import MediaId, PostId
from tintype.posts import PostNotFound
from tintype.wiring import Rooms

IdempotencyKey = Annotated[str | None, HeaderParameter(name="Idempotency-Key", max_length=128)]


class PostsApi(Controller):
    """Posts."""

    path = "/api/v1"
    tags = ("Posts",)

    @post("/posts", summary="Publish a post", scope=scopes.POSTS_WRITE)
    async def publish(
        self, data: JSONBody[NewPost], viewer: Viewer, rooms: House, idempotency_key: IdempotencyKey = None
    ) -> PostView:
        """Publish once, however often the same Idempotency-Key is sent."""
        media_ids = [MediaId(id_from(each)) for each in data.media_ids]
        post_id = await rooms.posts.publish(
            viewer.id,
            media_ids,
            caption=data.caption,
            alt_texts=data.alt_texts,
            tagged=read_tags(media_ids, data.tagged),
            place=read_place(data.place),
            comments_enabled=data.comments_enabled,
            hides_like_count=data.hides_like_count,
            idempotency_key=idempotency_key or None,
        )
        return await _show_one(rooms, viewer, post_id)

    @get("/posts/{post_id:str}", summary="One post", scope=scopes.READ, responses=UNCHANGED)
    async def one(
        self, request: Request[Any, Any, Any], post_id: PostRef, guest: Guest, rooms: House
    ) -> Response[PostView]:
        """A post as the viewer sees it, by its id or by the short code of its permalink."""
        return tagged(request, await _show_one(rooms, guest, post_from(post_id)))

    @patch("/posts/{post_id:str}", summary="Edit a post", scope=scopes.POSTS_WRITE)
    async def edit(
        self, post_id: PostRef, data: JSONBody[PostEdit], viewer: Viewer, rooms: House
    ) -> PostView:
        """Change caption, alt texts, tags, place or choices; what is left out stays."""
        number = post_from(post_id)
        await rooms.posts.edit(number, viewer.id, read_edit(data))
        return await _show_one(rooms, viewer, number)

    @delete("/posts/{post_id:str}", summary="Delete a post", scope=scopes.POSTS_WRITE)
    async def remove(self, post_id: PostRef, viewer: Viewer, rooms: House) -> None:
        """Out of sight at once; purged with its photos some weeks later."""
        await rooms.posts.delete(post_from(post_id), viewer.id)

    @put("/posts/{post_id:str}/archive", summary="Archive", status_code=204, scope=scopes.POSTS_WRITE)
    async def archive(self, post_id: PostRef, viewer: Viewer, rooms: House) -> None:
        """Put a post away; only its author sees it."""
        await rooms.posts.archive(post_from(post_id), viewer.id)

    @delete("/posts/{post_id:str}/archive", summary="Take out of the archive", scope=scopes.POSTS_WRITE)
    async def unarchive(self, post_id: PostRef, viewer: Viewer, rooms: House) -> None:
        """Show a post again."""
        await rooms.posts.unarchive(post_from(post_id), viewer.id)

    @put("/posts/{post_id:str}/pin", summary="Pin", status_code=204, scope=scopes.POSTS_WRITE)
    async def pin(self, post_id: PostRef, viewer: Viewer, rooms: House) -> None:
        """Keep a post on top of one's profile; at most three."""
        await rooms.posts.pin(post_from(post_id), viewer.id)

    @delete("/posts/{post_id:str}/pin", summary="Unpin", scope=scopes.POSTS_WRITE)
    async def unpin(self, post_id: PostRef, viewer: Viewer, rooms: House) -> None:
        """Let a post back to its place in time."""
        await rooms.posts.unpin(post_from(post_id), viewer.id)

    @delete("/posts/{post_id:str}/tags/me", summary="Take me out of the photos", scope=scopes.POSTS_WRITE)
    async def untag(self, post_id: PostRef, viewer: Viewer, rooms: House) -> None:
        """Remove oneself from a post one was tagged in."""
        await rooms.posts.untag(post_from(post_id), viewer.id)

    @put("/posts/{post_id:str}/like", summary="Like", status_code=204, scope=scopes.LIKES_WRITE)
    async def like(self, post_id: PostRef, viewer: Viewer, rooms: House) -> None:
        """Like a post; liking twice counts once."""
        await rooms.posts.like(post_from(post_id), viewer.id)

    @delete("/posts/{post_id:str}/like", summary="Take a like back", scope=scopes.LIKES_WRITE)
    async def unlike(self, post_id: PostRef, viewer: Viewer, rooms: House) -> None:
        """Unlike a post."""
        await rooms.posts.unlike(post_from(post_id), viewer.id)

    @get("/posts/{post_id:str}/likes", summary="Who liked it", scope=scopes.READ)
    async def likers(
        self, post_id: PostRef, guest: Guest, rooms: House, cursor: Cursor = None, limit: Limit = 20
    ) -> PeopleView:
        """The latest first, with how the viewer stands to each."""
        page = await rooms.posts.page_likers(
            post_from(post_id),
            viewer=guest.id if guest else None,
            before=decode_cursor(cursor),
            limit=limit,
        )
        people = [show_person(each) for each in page.items]
        return PeopleView(people, encode_cursor(page.next_before), page.next_before is not None)


async def _show_one(rooms: Rooms, viewer: Account | None, post_id: PostId) -> PostView:
    found = await rooms.posts.get(post_id, viewer=viewer.id if viewer else None)
    shown = await show_posts(rooms, viewer, [found])
    if not shown:
        raise PostNotFound
    return shown[0]
