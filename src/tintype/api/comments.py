"""Comments over HTTP."""

from datetime import datetime
from typing import Annotated

import msgspec
from litestar import Controller, delete, get, post, put
from litestar.params import HeaderParameter, JSONBody, QueryParameter

from shardwright.ids import Layout
from tintype.accounts import Account
from tintype.api import scopes
from tintype.api.cursors import decode_cursor, decode_place, encode_cursor, encode_place
from tintype.api.given import Cursor, Guest, House, Limit, PathId, PostRef, Viewer, id_from, post_from
from tintype.api.views import AuthorView, show_author
from tintype.base.ids import AccountId, CommentId, IdText
from tintype.comments import CommentPage, Place, SeenComment, Sort

IdempotencyKey = Annotated[str | None, HeaderParameter(name="Idempotency-Key", max_length=128)]
Order = Annotated[Sort, QueryParameter(description="In which order.")]


class NewComment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to say, and what it answers."""

    text: Annotated[str, msgspec.Meta(max_length=10_000)]
    reply_to: IdText | None = None


class Filters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words and phrases one does not want under one's posts."""

    words: Annotated[list[Annotated[str, msgspec.Meta(max_length=200)]], msgspec.Meta(max_length=1_000)]


class CommentView(msgspec.Struct, frozen=True):
    """A comment as the viewer sees it. Without an author it is an empty place that only holds its answers."""

    comment_id: str
    post_id: str
    author: AuthorView | None
    text: str
    created_at: datetime
    like_count: int
    thread_count: int
    """Answers in the whole thread; at its root only."""
    depth: int
    parent_id: str | None
    root_id: str | None
    answers: AuthorView | None
    """Whom it answers."""
    is_pinned: bool
    state: str
    viewer_has_liked: bool
    viewer_may_delete: bool


class CommentsView(msgspec.Struct, frozen=True):
    """A page of comments."""

    comments: list[CommentView]
    next_cursor: str | None
    has_more: bool


class PeopleView(msgspec.Struct, frozen=True):
    """A page of people."""

    people: list[AuthorView]
    next_cursor: str | None
    has_more: bool


class CommentsApi(Controller):
    """What people say under posts."""

    path = "/api/v1"
    tags = ("Comments",)

    @get("/posts/{post_id:str}/comments", summary="Comments under a post", scope=scopes.READ)
    async def page(
        self,
        post_id: PostRef,
        guest: Guest,
        rooms: House,
        *,
        sort: Order = "newest",
        cursor: Cursor = None,
        limit: Limit = 20,
    ) -> CommentsView:
        """Comments under the post itself; what its author put on top comes first. Answers: see `replies`."""
        page = await rooms.comments.page(
            post_from(post_id), viewer=_id(guest), sort=sort, place=_place(cursor), limit=limit
        )
        return _show_page(page, rooms.shards.map.layout, _id(guest))

    @post("/posts/{post_id:str}/comments", summary="Comment", scope=scopes.COMMENTS_WRITE)
    async def add(
        self,
        post_id: PostRef,
        data: JSONBody[NewComment],
        viewer: Viewer,
        rooms: House,
        idempotency_key: IdempotencyKey = None,
    ) -> CommentView:
        """Comment on a post, or answer a comment under it. The same words again within a minute are refused."""
        comment_id = await rooms.comments.add(
            post_from(post_id),
            viewer.id,
            data.text,
            reply_to=CommentId(id_from(data.reply_to)) if data.reply_to else None,
            key=idempotency_key,
        )
        seen = await rooms.comments.get(comment_id, viewer=viewer.id)
        return _show(seen, rooms.shards.map.layout, viewer.id)

    @get("/posts/{post_id:str}/comments/kept-back", summary="Comments that wait for you", scope=scopes.READ)
    async def kept_back(
        self, post_id: PostRef, viewer: Viewer, rooms: House, cursor: Cursor = None, limit: Limit = 20
    ) -> CommentsView:
        """Comments under one's own post that were held back, by a word or because their author is restricted."""
        page = await rooms.comments.kept_back(
            post_from(post_id), owner=viewer.id, place=_place(cursor), limit=limit
        )
        return _show_page(page, rooms.shards.map.layout, viewer.id)

    @get("/comments/{comment_id:str}", summary="One comment", scope=scopes.READ)
    async def one(self, comment_id: PathId, guest: Guest, rooms: House) -> CommentView:
        """A comment as the viewer sees it."""
        seen = await rooms.comments.get(CommentId(id_from(comment_id)), viewer=_id(guest))
        return _show(seen, rooms.shards.map.layout, _id(guest))

    @get("/comments/{comment_id:str}/replies", summary="Answers to a comment", scope=scopes.READ)
    async def replies(
        self, comment_id: PathId, guest: Guest, rooms: House, cursor: Cursor = None, limit: Limit = 20
    ) -> CommentsView:
        """All answers in the comment's thread, oldest first: what is answered comes before its answers."""
        number = CommentId(id_from(comment_id))
        page = await rooms.comments.thread(number, viewer=_id(guest), place=_place(cursor), limit=limit)
        return _show_page(page, rooms.shards.map.layout, _id(guest))

    @delete("/comments/{comment_id:str}", summary="Delete a comment", scope=scopes.COMMENTS_WRITE)
    async def remove(self, comment_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Delete one's own comment, or any under one's own post."""
        await rooms.comments.delete(CommentId(id_from(comment_id)), viewer.id)

    @put(
        "/comments/{comment_id:str}/like", summary="Like a comment", status_code=204, scope=scopes.LIKES_WRITE
    )
    async def like(self, comment_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Like a comment; liking twice counts once."""
        await rooms.comments.like(CommentId(id_from(comment_id)), viewer.id)

    @delete("/comments/{comment_id:str}/like", summary="Take a like back", scope=scopes.LIKES_WRITE)
    async def unlike(self, comment_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Unlike a comment."""
        await rooms.comments.unlike(CommentId(id_from(comment_id)), viewer.id)

    @get("/comments/{comment_id:str}/likes", summary="Who liked a comment", scope=scopes.READ)
    async def likes(
        self, comment_id: PathId, guest: Guest, rooms: House, cursor: Cursor = None, limit: Limit = 20
    ) -> PeopleView:
        """The people who liked it, newest first."""
        people, next_before = await rooms.comments.page_of_likes(
            CommentId(id_from(comment_id)), viewer=_id(guest), before=decode_cursor(cursor), limit=limit
        )
        shown = [show_author(seen.account) for seen in people]
        return PeopleView(shown, encode_cursor(next_before), next_before is not None)

    @put("/comments/{comment_id:str}/pin", summary="Put on top", status_code=204, scope=scopes.COMMENTS_WRITE)
    async def pin(self, comment_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Put a comment on top of one's own post; at most three."""
        await rooms.comments.pin(CommentId(id_from(comment_id)), viewer.id)

    @delete("/comments/{comment_id:str}/pin", summary="No longer on top", scope=scopes.COMMENTS_WRITE)
    async def unpin(self, comment_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Let a comment back among the others."""
        await rooms.comments.unpin(CommentId(id_from(comment_id)), viewer.id)

    @put(
        "/comments/{comment_id:str}/approval", summary="Show it", status_code=204, scope=scopes.COMMENTS_WRITE
    )
    async def approve(self, comment_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Show a comment under one's own post that was held back."""
        await rooms.comments.approve(CommentId(id_from(comment_id)), viewer.id)

    @get("/accounts/me/comment-filters", summary="Words you do not want to see", scope=scopes.READ)
    async def filters(self, viewer: Viewer, rooms: House) -> Filters:
        """The words and phrases held back under one's own posts."""
        return Filters(await rooms.comments.list_filters(viewer.id))

    @put(
        "/accounts/me/comment-filters",
        summary="Choose words you do not want to see",
        scope=scopes.ACCOUNT_WRITE,
    )
    async def set_filters(self, data: JSONBody[Filters], viewer: Viewer, rooms: House) -> Filters:
        """Replace the list; it holds for what is said from now on."""
        await rooms.comments.set_filters(viewer.id, data.words)
        return Filters(await rooms.comments.list_filters(viewer.id))


def _id(guest: Account | None) -> AccountId | None:
    return guest.id if guest is not None else None


def _place(cursor: str | None) -> Place | None:
    return Place(*decode_place(cursor, 2)) if cursor else None


def _show_page(page: CommentPage, layout: Layout, viewer: AccountId | None) -> CommentsView:
    place = page.next_place
    cursor = encode_place(place.id, place.like_count) if place is not None else None
    return CommentsView([_show(each, layout, viewer) for each in page.comments], cursor, place is not None)


def _show(seen: SeenComment, layout: Layout, viewer: AccountId | None) -> CommentView:
    comment, is_empty = seen.comment, seen.is_empty
    return CommentView(
        comment_id=str(comment.id),
        post_id=str(comment.post_id),
        author=show_author(seen.author) if seen.author is not None else None,
        text="" if is_empty else comment.text,
        created_at=layout.id_time(comment.id),
        like_count=0 if is_empty else comment.like_count,
        thread_count=comment.thread_count,
        depth=comment.depth,
        parent_id=str(comment.parent_id) if comment.parent_id else None,
        root_id=str(comment.root_id) if comment.root_id else None,
        answers=show_author(seen.answers) if seen.answers is not None else None,
        is_pinned=comment.is_pinned,
        state="gone" if is_empty else comment.state,
        viewer_has_liked=not is_empty and comment.viewer_has_liked,
        viewer_may_delete=not is_empty
        and viewer is not None
        and viewer in {comment.account_id, seen.post_author_id},
    )
