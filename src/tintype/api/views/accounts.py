"""Accounts as their owners see them, and profiles."""

from typing import Any

import msgspec
from msgspec.structs import astuple

from tintype.accounts import Account
from tintype.api.http.cursors import next_page
from tintype.api.views.context import ViewContext
from tintype.api.views.grid_fragments import GridFragments
from tintype.api.views.people import RelationView, avatar_url, show_relation
from tintype.api.views.posts import GridPostView
from tintype.posts import Profile


class AccountCardView(msgspec.Struct, frozen=True):
    """What an account's page says about it."""

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


class AccountView(AccountCardView, frozen=True):
    """An account, and whether the viewer follows it."""

    viewer_follows: bool


class OwnAccountView(AccountView, frozen=True):
    """The viewer's own account."""

    is_suspended: bool
    """A suspended account can appeal, export its data and log out; every other route answers `account_suspended`."""
    is_unlisted: bool
    """Whether it is kept out of link previews, embeds and search engines."""
    allows_downloads: bool
    """Whether others may download its photos as they were uploaded."""
    shows_camera: bool
    """Whether new posts show camera, lens and exposure, where they do not say."""
    allows_story_shares: bool
    """Whether others may show its posts in their stories."""


class ProfileView(AccountCardView, frozen=True):
    """A profile: the account, how the viewer is related to it, and the first of its posts, pinned ones first."""

    relation: RelationView
    shows_posts: bool
    posts: list[GridPostView]
    next_cursor: str | None
    has_more: bool


class AvailabilityView(msgspec.Struct, frozen=True):
    """Whether a username is free."""

    username: str
    is_available: bool


def _show_card(account: Account) -> AccountCardView:
    return AccountCardView(
        account_id=str(account.id),
        username=account.username,
        full_name=account.full_name,
        bio=account.bio,
        website=account.website,
        profile_pic_url=avatar_url(account),
        is_private=account.is_private,
        is_verified=account.is_verified,
        post_count=account.post_count,
        follower_count=account.follower_count,
        following_count=account.following_count,
    )


def show_account(account: Account, *, viewer_follows: bool = False) -> AccountView:
    """An account for its page."""
    return AccountView(*astuple(_show_card(account)), viewer_follows=viewer_follows)


def show_own_account(account: Account) -> OwnAccountView:
    """The account for its owner."""
    return OwnAccountView(
        *astuple(_show_card(account)),
        viewer_follows=False,
        is_suspended=account.is_suspended,
        is_unlisted=account.is_unlisted,
        allows_downloads=account.allows_downloads,
        shows_camera=account.shows_camera,
        allows_story_shares=account.allows_story_shares,
    )


def show_profile(profile: Profile, context: ViewContext, fragments: GridFragments) -> ProfileView:
    """A profile with its first posts, which are JSON already."""
    account, page = profile.account.account, profile.posts
    posts: Any = [fragments.render(each, account, context) for each in page.items]
    next_cursor, has_more = next_page(page.next_before)
    return ProfileView(
        *astuple(_show_card(account)),
        relation=show_relation(profile.account.relation),
        shows_posts=profile.account.shows_content,
        posts=posts,
        next_cursor=next_cursor,
        has_more=has_more,
    )
