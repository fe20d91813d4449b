"""People in lists and beside what they made, and how the viewer is related to them."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from tintype.accounts import Account
from tintype.api.http.cursors import next_page
from tintype.graph import Relation, Suggestion, VisibleAccount
from tintype.media import public_photo_urls

SMALL, MEDIUM = "150", "320"
"""Widths of avatars in pixels: in lists, and beside posts and on profiles."""


class RelationView(msgspec.Struct, frozen=True):
    """How the viewer is related to somebody. Whether they have blocked the viewer is never shown."""

    is_self: bool
    viewer_follows: bool
    viewer_has_requested: bool
    follows_viewer: bool
    viewer_blocks: bool
    viewer_mutes_posts: bool
    viewer_mutes_stories: bool
    viewer_has_as_close_friend: bool
    viewer_restricts: bool


class AuthorView(msgspec.Struct, frozen=True):
    """An account beside a post or comment."""

    account_id: str
    username: str
    full_name: str
    profile_pic_url: str | None
    is_verified: bool


class PersonView(AuthorView, frozen=True):
    """An account in a list, and how the viewer is related to it."""

    is_private: bool
    relation: RelationView


class PeopleView(msgspec.Struct, frozen=True):
    """A page of people."""

    people: list[PersonView]
    next_cursor: str | None
    has_more: bool


class MutualsView(msgspec.Struct, frozen=True):
    """Followers of somebody whom the viewer follows as well: "followed by ana, bo and 3 others"."""

    people: list[PersonView]
    count: int
    is_exact: bool


class SuggestionView(msgspec.Struct, frozen=True):
    """Somebody the viewer might want to follow."""

    person: PersonView
    followed_by_count: int
    reason: Literal["inviter", "followed_by_inviter", "mutuals", "popular", "new"]
    """Why: they invited the viewer, the inviter follows them, people whom the viewer follows do, they are popular, or
    they have joined and posted lately.
    """


class SuggestionsView(msgspec.Struct, frozen=True):
    """Suggestions, the best first."""

    suggestions: list[SuggestionView]


def avatar_url(account: Account, width: str = MEDIUM) -> str | None:
    """Where an account's avatar is served; None if it has none."""
    return public_photo_urls(account.avatar_folder)[width] if account.avatar_folder else None


def show_relation(relation: Relation) -> RelationView:
    """The relation without what the viewer must not learn: whether they are blocked."""
    return RelationView(
        is_self=relation.is_self,
        viewer_follows=relation.follows,
        viewer_has_requested=relation.has_requested,
        follows_viewer=relation.follows_viewer,
        viewer_blocks=relation.blocks,
        viewer_mutes_posts=relation.mutes_posts,
        viewer_mutes_stories=relation.mutes_stories,
        viewer_has_as_close_friend=relation.is_close_friend,
        viewer_restricts=relation.restricts,
    )


def show_author(account: Account) -> AuthorView:
    """An account beside what it made."""
    return AuthorView(
        str(account.id), account.username, account.full_name, avatar_url(account), account.is_verified
    )


def show_person(person: VisibleAccount) -> PersonView:
    """An account in a list, as the viewer sees it."""
    account = person.account
    return PersonView(
        account_id=str(account.id),
        username=account.username,
        full_name=account.full_name,
        profile_pic_url=avatar_url(account, SMALL),
        is_verified=account.is_verified,
        is_private=account.is_private,
        relation=show_relation(person.relation),
    )


def show_people(people: Iterable[VisibleAccount], next_before: int | None) -> PeopleView:
    """A page of people, and the cursor of the next page."""
    return PeopleView([show_person(each) for each in people], *next_page(next_before))


def show_suggestions(suggestions: Iterable[Suggestion]) -> SuggestionsView:
    """People to follow, in the order given."""
    return SuggestionsView(
        [SuggestionView(show_person(each.person), each.followed_by, each.reason) for each in suggestions]
    )
