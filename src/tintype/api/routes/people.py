"""Lists of people over HTTP: followers, requests, blocks, mutes and suggestions."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from litestar import Controller, get
from litestar.handlers import HTTPRouteHandler
from litestar.params import QueryParameter

from tintype.api.http import scopes
from tintype.api.http.cursors import decode_cursor
from tintype.api.http.dependencies import Cursor, InjectedRooms, Limit, PathId, Viewer, parse_account_id
from tintype.api.views.people import (
    MutualsView,
    PeopleView,
    SuggestionsView,
    show_people,
    show_person,
    show_suggestions,
)
from tintype.base.ids import AccountId
from tintype.base.pages import Page
from tintype.graph import PeopleLists, PreferenceKind, VisibleAccount

ReadList = Callable[[PeopleLists, AccountId, int, int], Awaitable[Page[VisibleAccount]]]
"""Reads a page of a list: for this viewer, before this cursor, at most so many."""
ReadListOf = Callable[[PeopleLists, AccountId, AccountId, int, int], Awaitable[Page[VisibleAccount]]]
"""Reads a page of a list of an account: for this viewer, of this account, before this cursor, at most so many."""
FewLimit = Annotated[int, QueryParameter(description="How many at most.", ge=1, le=30)]


class PeopleApi(Controller):
    """Followers whom the viewer knows, and suggestions."""

    path = "/api/v1"
    tags = ("Graph",)

    @get("/accounts/{account_id:str}/mutuals", summary="Followers you follow", scope=scopes.READ)
    async def mutuals(self, account_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> MutualsView:
        """A few followers of an account whom the viewer follows, and how many there are."""
        found = await rooms.people_lists.mutuals(viewer.id, parse_account_id(account_id))
        return MutualsView([show_person(each) for each in found.people], found.count, found.is_exact)

    @get("/suggestions", summary="Suggestions", scope=scopes.READ)
    async def suggestions(
        self, viewer: Viewer, rooms: InjectedRooms, limit: FewLimit = 20
    ) -> SuggestionsView:
        """Accounts to follow: the inviter and whom they follow, then friends of friends, then popular ones."""
        found = await rooms.suggestions.list(viewer.id, limit=limit)
        return show_suggestions(found)


def _own_list(path: str, summary: str, description: str, read: ReadList) -> HTTPRouteHandler:
    """A route that shows one of the viewer's own lists of people, page by page."""

    @get(path, summary=summary, description=description, tags=["Graph"], scope=scopes.READ)
    async def own_list(
        viewer: Viewer, rooms: InjectedRooms, cursor: Cursor = None, limit: Limit = 20
    ) -> PeopleView:
        page = await read(rooms.people_lists, viewer.id, decode_cursor(cursor), limit)
        return show_people(page.items, page.next_before)

    return own_list


def _list_of_account(name: str, summary: str, description: str, read: ReadListOf) -> HTTPRouteHandler:
    """A route that shows a list of people that belongs to an account, page by page."""
    path = f"/api/v1/accounts/{{account_id:str}}/{name}"

    @get(path, summary=summary, description=description, tags=["Graph"], scope=scopes.READ)
    async def list_of_account(
        account_id: PathId, viewer: Viewer, rooms: InjectedRooms, cursor: Cursor = None, limit: Limit = 20
    ) -> PeopleView:
        of = parse_account_id(account_id)
        page = await read(rooms.people_lists, viewer.id, of, decode_cursor(cursor), limit)
        return show_people(page.items, page.next_before)

    return list_of_account


def _preference_list(path: str, kind: PreferenceKind, summary: str, description: str) -> HTTPRouteHandler:
    """A route that shows the accounts for which the viewer has a preference."""
    return _own_list(
        f"/api/v1/{path}",
        summary,
        description,
        lambda lists, viewer, before, limit: lists.with_preference(viewer, kind, before=before, limit=limit),
    )


LISTS_OF_PEOPLE = (
    _list_of_account(
        "followers",
        "Followers",
        "The followers of an account, the latest follow first.",
        lambda lists, viewer, of, before, limit: lists.followers(viewer, of, before=before, limit=limit),
    ),
    _list_of_account(
        "following",
        "Following",
        "The accounts that an account follows, the latest follow first.",
        lambda lists, viewer, of, before, limit: lists.following(viewer, of, before=before, limit=limit),
    ),
    _own_list(
        "/api/v1/follow-requests",
        "Follow requests",
        "Follow requests that the viewer received, newest first.",
        lambda lists, viewer, before, limit: lists.requests(viewer, before=before, limit=limit),
    ),
    _own_list(
        "/api/v1/follow-requests/sent",
        "Sent follow requests",
        "Follow requests that the viewer sent, newest first.",
        lambda lists, viewer, before, limit: lists.sent_requests(viewer, before=before, limit=limit),
    ),
    _own_list(
        "/api/v1/blocks",
        "Blocked accounts",
        "The accounts that the viewer blocked, newest first.",
        lambda lists, viewer, before, limit: lists.blocks(viewer, before=before, limit=limit),
    ),
    _preference_list(
        "mutes", "muted", "Muted accounts", "The accounts whose posts or stories the viewer muted."
    ),
    _preference_list("close-friends", "close_friends", "Close friends", "The viewer's close friends."),
    _preference_list(
        "restrictions",
        "restricted",
        "Restricted accounts",
        "The accounts whose comments on the viewer's posts only they see.",
    ),
)
