"""Posting, liking and the feed over HTTP."""

from typing import Annotated

import msgspec
from litestar import Controller, delete, get, post, put
from litestar.params import HeaderParameter, JSONBody

from tintype.api.cursors import decode_cursor, encode_cursor
from tintype.api.given import Cursor, House, Limit, PathId, Viewer, id_from
from tintype.api.views import PostsView, PostView, show_post
from tintype.base.ids import IdText, MediaId, PostId
from tintype.posts import PostNotFound

IdempotencyKey = Annotated[str | None, HeaderParameter(name="Idempotency-Key", max_length=128)]


class NewPost(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to publish."""

    media_ids: Annotated[list[IdText], msgspec.Meta(min_length=1, max_length=10)]
    caption: Annotated[str, msgspec.Meta(max_length=10_000)] = ""
    alt_texts: Annotated[list[str], msgspec.Meta(max_length=10)] = []


class PostsApi(Controller):
    """Posts and the feed."""

    path = "/api/v1"
    tags = ("Posts",)

    @post("/posts", summary="Publish a post")
    async def publish(
        self, data: JSONBody[NewPost], viewer: Viewer, rooms: House, idempotency_key: IdempotencyKey = None
    ) -> PostView:
        """Publish once, however often the same Idempotency-Key is sent."""
        post_id = await rooms.posts.publish(
            viewer.id,
            [MediaId(id_from(each)) for each in data.media_ids],
            caption=data.caption,
            alt_texts=data.alt_texts,
            idempotency_key=idempotency_key,
        )
        made = await rooms.posts.get(post_id, viewer=viewer.id)
        return show_post(made, viewer, rooms.shards.map.layout, rooms.media.addresses)

    @get("/posts/{post_id:str}", summary="One post")
    async def one(self, post_id: PathId, viewer: Viewer, rooms: House) -> PostView:
        """A post as the viewer sees it."""
        found = await rooms.posts.get(PostId(id_from(post_id)), viewer=viewer.id)
        authors = await rooms.accounts.find_many([found.author_id])
        if found.author_id not in authors:
            raise PostNotFound
        return show_post(found, authors[found.author_id], rooms.shards.map.layout, rooms.media.addresses)

    @put("/posts/{post_id:str}/like", summary="Like", status_code=204)
    async def like(self, post_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Like a post; liking twice counts once."""
        await rooms.posts.like(PostId(id_from(post_id)), viewer.id)

    @delete("/posts/{post_id:str}/like", summary="Take a like back")
    async def unlike(self, post_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Unlike a post."""
        await rooms.posts.unlike(PostId(id_from(post_id)), viewer.id)

    @get("/feed", summary="The home feed", tags=["Feed"])
    async def feed(self, viewer: Viewer, rooms: House, cursor: Cursor = None, limit: Limit = 20) -> PostsView:
        """Posts of the people one follows and one's own, newest first."""
        page = await rooms.feed.read(viewer.id, before=decode_cursor(cursor), limit=limit)
        authors = await rooms.accounts.find_many(post.author_id for post in page.posts)
        shown = [
            show_post(each, authors[each.author_id], rooms.shards.map.layout, rooms.media.addresses)
            for each in page.posts
            if each.author_id in authors
        ]
        return PostsView(shown, encode_cursor(page.next_before), page.next_before is not None)
