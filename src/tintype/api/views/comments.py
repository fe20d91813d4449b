"""Comments under posts."""

from datetime import datetime

import msgspec

from tintype.api.http.cursors import encode_compound_cursor
from tintype.api.views.context import ViewContext
from tintype.api.views.people import AuthorView, show_author
from tintype.comments import CommentPage, VisibleComment


class CommentView(msgspec.Struct, frozen=True):
    """A comment as the viewer sees it. One without an author is gone and stays only because it has replies."""

    comment_id: str
    post_id: str
    author: AuthorView | None
    text: str
    created_at: datetime
    like_count: int
    thread_count: int
    """Replies in the whole thread; only set at its root."""
    depth: int
    parent_id: str | None
    root_id: str | None
    answers: AuthorView | None
    """The author of the comment that this one replies to."""
    is_pinned: bool
    state: str
    viewer_has_liked: bool
    viewer_may_delete: bool


class CommentsView(msgspec.Struct, frozen=True):
    """A page of comments."""

    comments: list[CommentView]
    next_cursor: str | None
    has_more: bool


def show_comments(page: CommentPage, context: ViewContext) -> CommentsView:
    """A page of comments, and the cursor of the next page."""
    after = page.next_cursor
    next_cursor = encode_compound_cursor(after.id, after.like_count) if after is not None else None
    return CommentsView(
        [show_comment(each, context) for each in page.comments], next_cursor, after is not None
    )


def show_comment(seen: VisibleComment, context: ViewContext) -> CommentView:
    """A comment as the viewer sees it; one that is gone keeps its id and its replies."""
    comment, is_placeholder = seen.comment, seen.is_placeholder
    return CommentView(
        comment_id=str(comment.id),
        post_id=str(comment.post_id),
        author=show_author(seen.author) if seen.author is not None else None,
        text="" if is_placeholder else comment.text,
        created_at=context.layout.id_time(comment.id),
        like_count=0 if is_placeholder else comment.like_count,
        thread_count=comment.thread_count,
        depth=comment.depth,
        parent_id=str(comment.parent_id) if comment.parent_id else None,
        root_id=str(comment.root_id) if comment.root_id else None,
        answers=show_author(seen.answers) if seen.answers is not None else None,
        is_pinned=comment.is_pinned,
        state="gone" if is_placeholder else comment.state,
        viewer_has_liked=not is_placeholder and comment.viewer_has_liked,
        viewer_may_delete=seen.may_delete(context.viewer_id),
    )
