"""What the API shows of accounts and posts. Ids are strings."""

from datetime import datetime

import msgspec

from shardwright.ids import Layout, encode_short
from tintype.accounts import Account
from tintype.media import urls_of
from tintype.posts import Post, PostMedia


class AccountView(msgspec.Struct, frozen=True):
    """An account on its own page."""

    account_id: str
    username: str
    full_name: str
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


class MediaView(msgspec.Struct, frozen=True):
    """One picture of a post, in every size."""

    type: str
    url: str
    urls: dict[str, str]
    width: int
    height: int
    alt_text: str
    placeholder: str | None


class PostView(msgspec.Struct, frozen=True):
    """A post as the viewer sees it."""

    post_id: str
    permalink: str
    author: AuthorView
    media: list[MediaView]
    caption: str
    like_count: int
    comment_count: int
    created_at: datetime
    viewer_has_liked: bool
    viewer_has_saved: bool


class PostsView(msgspec.Struct, frozen=True):
    """A page of posts."""

    posts: list[PostView]
    next_cursor: str | None
    has_more: bool


def show_account(account: Account, *, viewer_follows: bool = False) -> AccountView:
    """An account for its page."""
    return AccountView(
        account_id=str(account.id),
        username=account.username,
        full_name=account.full_name,
        is_private=account.is_private,
        is_verified=account.is_verified,
        post_count=account.post_count,
        follower_count=account.follower_count,
        following_count=account.following_count,
        viewer_follows=viewer_follows,
    )


def show_author(author: Account) -> AuthorView:
    """An account beside what it posted or said."""
    picture = urls_of(author.avatar_folder)["150"] if author.avatar_folder else None
    return AuthorView(str(author.id), author.username, author.full_name, picture, author.is_verified)


def show_post(post: Post, author: Account, layout: Layout) -> PostView:
    """A post with its author."""
    return PostView(
        post_id=str(post.id),
        permalink=f"/p/{encode_short(post.id)}",
        author=show_author(author),
        media=[_show_media(item) for item in post.media],
        caption=post.caption,
        like_count=post.like_count,
        comment_count=post.comment_count,
        created_at=layout.id_time(post.id),
        viewer_has_liked=post.viewer_has_liked,
        viewer_has_saved=False,
    )


def _show_media(item: PostMedia) -> MediaView:
    urls = urls_of(item.folder)
    return MediaView("image", urls["1080"], urls, item.width, item.height, item.alt_text, None)
