"""Posts: whole, and as the squares of a profile's grid."""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from shardwright.ids import encode_short
from tintype.accounts import Account
from tintype.api.views.context import ViewContext
from tintype.api.views.media import MediaView, link_audience, show_media
from tintype.api.views.people import AuthorView, show_author
from tintype.base.ids import AccountId
from tintype.posts import Post, Span


class SpanView(msgspec.Struct, frozen=True):
    """A hashtag or mention in a caption. `start` and `end` count code points; the end is not included."""

    start: int
    end: int
    kind: str
    hashtag: str | None
    account_id: str | None
    username: str | None


class PostPlaceView(msgspec.Struct, frozen=True):
    """Where a post was made."""

    place_id: str
    name: str
    lat: float | None
    lon: float | None


class PostView(msgspec.Struct, frozen=True):
    """A post as the viewer sees it. `like_count` is null where the author does not show it."""

    post_id: str
    code: str
    permalink: str
    author: AuthorView
    media: list[MediaView]
    caption: str
    spans: list[SpanView]
    place: PostPlaceView | None
    like_count: int | None
    comment_count: int
    comments_enabled: bool
    hides_like_count: bool
    shows_camera: bool
    is_pinned: bool
    is_archived: bool
    is_hidden: bool
    created_at: datetime
    edited_at: datetime | None
    viewer_has_liked: bool
    viewer_has_saved: bool
    viewer_is_author: bool
    viewer_is_tagged: bool
    viewer_follows_author: bool


class PostsView(msgspec.Struct, frozen=True):
    """A page of posts."""

    posts: list[PostView]
    next_cursor: str | None
    has_more: bool


class GridPostView(msgspec.Struct, frozen=True):
    """A post as a square of a profile's grid."""

    post_id: str
    code: str
    permalink: str
    cover: MediaView | None
    media_count: int
    like_count: int | None
    comment_count: int
    is_pinned: bool
    created_at: datetime
    viewer_has_liked: bool


def show_post(
    post: Post,
    people: Mapping[AccountId, Account],
    context: ViewContext,
    *,
    has_saved: bool,
    follows_author: bool = False,
) -> PostView:
    """A post; `people` holds its author, and those tagged and mentioned in it whom the viewer may know of."""
    code, author = encode_short(post.id), people[post.author_id]
    audience = link_audience(author, is_withheld=not post.is_shown)
    return PostView(
        post_id=str(post.id),
        code=code,
        permalink=f"/p/{code}",
        author=show_author(author),
        media=[
            show_media(item, context, audience=audience, people=people, may_download=author.allows_downloads)
            for item in post.media
        ],
        caption=post.caption,
        spans=[_show_span(span, people) for span in post.spans if _is_known(span, people)],
        place=_show_place(post),
        like_count=post.like_count,
        comment_count=post.comment_count,
        comments_enabled=post.comments_enabled,
        hides_like_count=post.hides_like_count,
        shows_camera=post.shows_camera,
        is_pinned=post.is_pinned,
        is_archived=post.is_archived,
        is_hidden=post.is_hidden,
        created_at=post.own_time(context.layout),
        edited_at=post.edited_at,
        viewer_has_liked=post.viewer_has_liked,
        viewer_has_saved=has_saved,
        viewer_is_author=post.author_id == context.viewer_id,
        viewer_is_tagged=context.viewer_id in post.tagged_ids,
        viewer_follows_author=follows_author,
    )


def show_grid_post(post: Post, author: Account, context: ViewContext) -> GridPostView:
    """A post as a square of a grid."""
    code, audience = encode_short(post.id), link_audience(author, is_withheld=not post.is_shown)
    return GridPostView(
        post_id=str(post.id),
        code=code,
        permalink=f"/p/{code}",
        cover=show_media(post.media[0], context, audience=audience) if post.media else None,
        media_count=len(post.media),
        like_count=post.like_count,
        comment_count=post.comment_count,
        is_pinned=post.is_pinned,
        created_at=post.own_time(context.layout),
        viewer_has_liked=post.viewer_has_liked,
    )


def _is_known(span: Span, people: Mapping[AccountId, Account]) -> bool:
    return span.account_id is None or span.account_id in people


def _show_span(span: Span, people: Mapping[AccountId, Account]) -> SpanView:
    if span.account_id is None:
        return SpanView(span.start, span.end, span.kind, span.tag, None, None)
    person = people[span.account_id]
    return SpanView(span.start, span.end, span.kind, None, str(person.id), person.username)


def _show_place(post: Post) -> PostPlaceView | None:
    place = post.place
    return PostPlaceView(place.id, place.name, place.lat, place.lon) if place else None
