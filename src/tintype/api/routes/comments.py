"""Comments over HTTP."""

from typing import Annotated

import msgspec
from litestar import Controller, delete, get, post, put
from litestar.params import JSONBody, QueryParameter

from tintype.api.http import scopes
from tintype.api.http.cursors import decode_compound_cursor, decode_cursor
from tintype.api.http.dependencies import (
    Cursor,
    Guest,
    IdempotencyKey,
    InjectedRooms,
    Limit,
    PathId,
    PostRef,
    Viewer,
    id_of,
    parse_comment_id,
    parse_post_id,
)
from tintype.api.views.comments import CommentsView, CommentView, show_comment, show_comments
from tintype.api.views.context import context_for
from tintype.api.views.people import PeopleView, show_people
from tintype.base.ids import IdText
from tintype.comments import CommentCursor, CommentDraft, Sort

Order = Annotated[Sort, QueryParameter(description="In which order.")]


class NewComment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A comment, and the comment that it replies to."""

    text: Annotated[str, msgspec.Meta(max_length=10_000)]
    reply_to: IdText | None = None


class CommentFilters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words and phrases; comments that contain one are held for approval."""

    words: Annotated[list[Annotated[str, msgspec.Meta(max_length=200)]], msgspec.Meta(max_length=1_000)]


class CommentsApi(Controller):
    """Comments under posts."""

    path = "/api/v1"
    tags = ("Comments",)

    @get("/posts/{post_id:str}/comments", summary="Comments under a post", scope=scopes.READ)
    async def page(
        self,
        post_id: PostRef,
        guest: Guest,
        rooms: InjectedRooms,
        *,
        sort: Order = "newest",
        cursor: Cursor = None,
        limit: Limit = 20,
    ) -> CommentsView:
        """Top-level comments; those that the post's author pinned come first. For replies see `replies`."""
        page = await rooms.comments.page(
            parse_post_id(post_id), viewer=id_of(guest), sort=sort, cursor=_decode_cursor(cursor), limit=limit
        )
        return show_comments(page, context_for(guest, rooms))

    @post("/posts/{post_id:str}/comments", summary="Comment", scope=scopes.COMMENTS_WRITE, lean=True)
    async def add(
        self,
        post_id: PostRef,
        data: JSONBody[NewComment],
        viewer: Viewer,
        rooms: InjectedRooms,
        idempotency_key: IdempotencyKey = None,
    ) -> CommentView:
        """Comment on a post, or reply to a comment under it. The same text again within a minute is refused."""
        reply_to = parse_comment_id(data.reply_to) if data.reply_to else None
        draft = CommentDraft(data.text, reply_to, idempotency_key)
        seen = await rooms.comments.add_and_show(parse_post_id(post_id), viewer, draft)
        return show_comment(seen, context_for(viewer, rooms))

    @get("/posts/{post_id:str}/comments/kept-back", summary="Comments held for approval", scope=scopes.READ)
    async def kept_back(
        self, post_id: PostRef, viewer: Viewer, rooms: InjectedRooms, cursor: Cursor = None, limit: Limit = 20
    ) -> CommentsView:
        """Comments under one's own post that wait for approval: filtered, or by a restricted account."""
        page = await rooms.comments.page_held_back(
            parse_post_id(post_id), owner=viewer.id, cursor=_decode_cursor(cursor), limit=limit
        )
        return show_comments(page, context_for(viewer, rooms))

    @get("/comments/{comment_id:str}", summary="One comment", scope=scopes.READ)
    async def one(self, comment_id: PathId, guest: Guest, rooms: InjectedRooms) -> CommentView:
        """A comment as the viewer sees it."""
        seen = await rooms.comments.get(parse_comment_id(comment_id), viewer=id_of(guest))
        return show_comment(seen, context_for(guest, rooms))

    @get("/comments/{comment_id:str}/replies", summary="Replies to a comment", scope=scopes.READ)
    async def replies(
        self, comment_id: PathId, guest: Guest, rooms: InjectedRooms, cursor: Cursor = None, limit: Limit = 20
    ) -> CommentsView:
        """All replies in the comment's thread, oldest first, so that a comment comes before its replies."""
        number = parse_comment_id(comment_id)
        page = await rooms.comments.page_thread(
            number, viewer=id_of(guest), cursor=_decode_cursor(cursor), limit=limit
        )
        return show_comments(page, context_for(guest, rooms))

    @delete("/comments/{comment_id:str}", summary="Delete a comment", scope=scopes.COMMENTS_WRITE)
    async def remove(self, comment_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Delete one's own comment, or any under one's own post."""
        await rooms.comments.delete(parse_comment_id(comment_id), viewer.id)

    @put(
        "/comments/{comment_id:str}/like",
        summary="Like a comment",
        status_code=204,
        scope=scopes.LIKES_WRITE,
        lean=True,
    )
    async def like(self, comment_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Like a comment; liking twice counts once."""
        await rooms.comments.like(parse_comment_id(comment_id), viewer.id)

    @delete(
        "/comments/{comment_id:str}/like", summary="Unlike a comment", scope=scopes.LIKES_WRITE, lean=True
    )
    async def unlike(self, comment_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Unlike a comment."""
        await rooms.comments.unlike(parse_comment_id(comment_id), viewer.id)

    @get("/comments/{comment_id:str}/likes", summary="Who liked a comment", scope=scopes.READ)
    async def likes(
        self, comment_id: PathId, guest: Guest, rooms: InjectedRooms, cursor: Cursor = None, limit: Limit = 20
    ) -> PeopleView:
        """The people who liked it, the latest like first."""
        people, next_before = await rooms.comments.page_likers(
            parse_comment_id(comment_id), viewer=id_of(guest), before=decode_cursor(cursor), limit=limit
        )
        return show_people(people, next_before)

    @put(
        "/comments/{comment_id:str}/pin",
        summary="Pin a comment",
        status_code=204,
        scope=scopes.COMMENTS_WRITE,
    )
    async def pin(self, comment_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Pin a comment under one's own post; at most three."""
        await rooms.comments.pin(parse_comment_id(comment_id), viewer.id)

    @delete("/comments/{comment_id:str}/pin", summary="Unpin a comment", scope=scopes.COMMENTS_WRITE)
    async def unpin(self, comment_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Unpin a comment."""
        await rooms.comments.unpin(parse_comment_id(comment_id), viewer.id)

    @put(
        "/comments/{comment_id:str}/approval",
        summary="Approve a comment",
        status_code=204,
        scope=scopes.COMMENTS_WRITE,
    )
    async def approve(self, comment_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Show a comment under one's own post that was held for approval."""
        await rooms.comments.approve(parse_comment_id(comment_id), viewer.id)

    @get("/accounts/me/comment-filters", summary="Comment filters", scope=scopes.READ)
    async def filters(self, viewer: Viewer, rooms: InjectedRooms) -> CommentFilters:
        """The words and phrases that comments under one's own posts are filtered by."""
        return CommentFilters(await rooms.comments.list_filters(viewer.id))

    @put(
        "/accounts/me/comment-filters",
        summary="Change the comment filters",
        scope=scopes.ACCOUNT_WRITE,
    )
    async def set_filters(
        self, data: JSONBody[CommentFilters], viewer: Viewer, rooms: InjectedRooms
    ) -> CommentFilters:
        """Replace the list. It applies to new comments."""
        await rooms.comments.set_filters(viewer.id, data.words)
        return CommentFilters(await rooms.comments.list_filters(viewer.id))


def _decode_cursor(cursor: str | None) -> CommentCursor | None:
    return CommentCursor(*decode_compound_cursor(cursor, 2)) if cursor else None
