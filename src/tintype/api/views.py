"""What the API shows of accounts and posts. Ids are strings."""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from shardwright.ids import Layout, encode_short
from tintype.accounts import Account
from tintype.base.ids import AccountId
from tintype.graph import Relation, Seen
from tintype.media import Addresses, MediaState, MediaType, urls_of
from tintype.posts import Post, PostMedia, Span


class AccountView(msgspec.Struct, frozen=True):
    """An account on its own page."""

    account_id: str
    username: str
    full_name: str
    bio: str
    website: str
    profile_pic_url: str | None
    is_private: bool
    is_verified: bool
    post_count: int
    follower_count: int
    following_count: int
    viewer_follows: bool


class AuthorView(msgspec.Struct, frozen=True):
    """An account beside a post."""

    user_id: str
    username: str
    full_name: str
    profile_pic_url: str | None
    is_verified: bool


class TaggedView(msgspec.Struct, frozen=True):
    """Somebody in a picture; `x` and `y` are fractions of its width and height."""

    user_id: str
    username: str
    x: float
    y: float


class MediaView(msgspec.Struct, frozen=True):
    """One picture or clip of a post. A clip that is still converted shows its poster and has no `video_url` yet."""

    media_id: str
    type: MediaType
    state: MediaState
    url: str
    urls: dict[str, str]
    squares: dict[str, str]
    video_url: str | None
    hls_url: str | None
    width: int
    height: int
    duration_ms: int | None
    alt_text: str
    placeholder: str | None
    tagged: list[TaggedView]


class SpanView(msgspec.Struct, frozen=True):
    """A hashtag or a mention in a caption. Places are counted in code points; the end is not included."""

    start: int
    end: int
    kind: str
    hashtag: str | None
    user_id: str | None
    username: str | None


class PlaceView(msgspec.Struct, frozen=True):
    """Where it was."""

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
    place: PlaceView | None
    like_count: int | None
    comment_count: int
    comments_enabled: bool
    hides_like_count: bool
    is_pinned: bool
    is_archived: bool
    is_hidden: bool
    created_at: datetime
    edited_at: datetime | None
    viewer_has_liked: bool
    viewer_has_saved: bool
    viewer_is_author: bool
    viewer_is_tagged: bool


class PostsView(msgspec.Struct, frozen=True):
    """A page of posts."""

    posts: list[PostView]
    next_cursor: str | None
    has_more: bool


class GridPostView(msgspec.Struct, frozen=True):
    """A post as a square on a profile."""

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


class RelationshipView(msgspec.Struct, frozen=True):
    """How the viewer stands to somebody."""

    is_self: bool
    viewer_follows: bool
    viewer_has_requested: bool
    follows_viewer: bool


class PersonView(msgspec.Struct, frozen=True):
    """Somebody in a list, and how the viewer stands to them."""

    user_id: str
    username: str
    full_name: str
    profile_pic_url: str | None
    is_verified: bool
    is_private: bool
    relationship: RelationshipView


class PeopleView(msgspec.Struct, frozen=True):
    """A page of people."""

    people: list[PersonView]
    next_cursor: str | None
    has_more: bool


class ProfileView(msgspec.Struct, frozen=True):
    """A profile: the account, how the viewer stands to it, and the first of its posts, pinned ones before others."""

    account_id: str
    username: str
    full_name: str
    bio: str
    website: str
    profile_pic_url: str | None
    is_private: bool
    is_verified: bool
    post_count: int
    follower_count: int
    following_count: int
    relationship: RelationshipView
    shows_posts: bool
    posts: list[GridPostView]
    next_cursor: str | None
    has_more: bool


def show_account(account: Account, *, viewer_follows: bool = False) -> AccountView:
    """An account for its page."""
    return AccountView(
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
        viewer_follows=viewer_follows,
    )


def show_author(account: Account) -> AuthorView:
    """An account beside what it made."""
    return AuthorView(
        str(account.id), account.username, account.full_name, picture_of(account), account.is_verified
    )


def show_person(seen: Seen) -> PersonView:
    """An account in a list."""
    account = seen.account
    return PersonView(
        user_id=str(account.id),
        username=account.username,
        full_name=account.full_name,
        profile_pic_url=picture_of(account),
        is_verified=account.is_verified,
        is_private=account.is_private,
        relationship=show_relation(seen.relation),
    )


def show_relation(relation: Relation) -> RelationshipView:
    """What a viewer is told of how they stand to somebody; never whether they are blocked."""
    return RelationshipView(
        relation.is_self, relation.follows, relation.has_requested, relation.follows_viewer
    )


def picture_of(account: Account) -> str | None:
    """Where an account's own picture is served, if it has one."""
    return urls_of(account.avatar_folder)["320"] if account.avatar_folder else None


def show_post(
    post: Post,
    people: Mapping[AccountId, Account],
    layout: Layout,
    addresses: Addresses,
    *,
    viewer: AccountId | None,
    has_saved: bool,
) -> PostView:
    """A post; `people` are its author and those in its pictures and words that the viewer may know of."""
    signed, code = people[post.author_id].is_private, encode_short(post.id)
    return PostView(
        post_id=str(post.id),
        code=code,
        permalink=f"/p/{code}",
        author=show_author(people[post.author_id]),
        media=[show_media(item, people, addresses, signed=signed) for item in post.media],
        caption=post.caption,
        spans=[_show_span(span, people) for span in post.spans if _is_known(span, people)],
        place=_show_place(post),
        like_count=post.like_count,
        comment_count=post.comment_count,
        comments_enabled=post.comments_enabled,
        hides_like_count=post.hides_like_count,
        is_pinned=post.is_pinned,
        is_archived=post.is_archived,
        is_hidden=post.is_hidden,
        created_at=layout.id_time(post.id),
        edited_at=post.edited_at,
        viewer_has_liked=post.viewer_has_liked,
        viewer_has_saved=has_saved,
        viewer_is_author=post.author_id == viewer,
        viewer_is_tagged=viewer in post.tagged_ids,
    )


def show_grid_post(post: Post, layout: Layout, addresses: Addresses, *, signed: bool) -> GridPostView:
    """A post as a square."""
    code = encode_short(post.id)
    return GridPostView(
        post_id=str(post.id),
        code=code,
        permalink=f"/p/{code}",
        cover=show_media(post.media[0], {}, addresses, signed=signed) if post.media else None,
        media_count=len(post.media),
        like_count=post.like_count,
        comment_count=post.comment_count,
        is_pinned=post.is_pinned,
        created_at=layout.id_time(post.id),
        viewer_has_liked=post.viewer_has_liked,
    )


def show_media(
    item: PostMedia, people: Mapping[AccountId, Account], addresses: Addresses, *, signed: bool
) -> MediaView:
    """A picture or clip with those in it that the viewer may know of; signed where its author is private."""
    urls = addresses.of_pictures(item.folder, signed=signed)
    is_playable = item.type == "video" and item.state == "ready"
    tagged = [
        TaggedView(str(each.account_id), people[each.account_id].username, each.x, each.y)
        for each in item.tagged
        if each.account_id in people
    ]
    return MediaView(
        media_id=str(item.media_id),
        type=item.type,
        state=item.state,
        url=urls["1080"],
        urls=urls,
        squares=addresses.of_squares(item.folder, signed=signed),
        video_url=addresses.of_video(item.folder, signed=signed) if is_playable else None,
        hls_url=addresses.of_playlist(item.folder, signed=signed) if is_playable and item.has_hls else None,
        width=item.width,
        height=item.height,
        duration_ms=item.duration_ms,
        alt_text=item.alt_text,
        placeholder=item.placeholder,
        tagged=tagged,
    )


def _is_known(span: Span, people: Mapping[AccountId, Account]) -> bool:
    return span.account_id is None or span.account_id in people


def _show_span(span: Span, people: Mapping[AccountId, Account]) -> SpanView:
    if span.account_id is None:
        return SpanView(span.start, span.end, span.kind, span.tag, None, None)
    person = people[span.account_id]
    return SpanView(span.start, span.end, span.kind, None, str(person.id), person.username)


def _show_place(post: Post) -> PlaceView | None:
    place = post.place
    return PlaceView(place.id, place.name, place.lat, place.lon) if place else None
