"""Lists of people over HTTP, each person with how the viewer stands to them."""

from typing import Annotated

import msgspec
from litestar import Controller, get
from litestar.params import QueryParameter

from tintype.api import scopes
from tintype.api.cursors import decode_cursor, encode_cursor
from tintype.api.given import Cursor, House, Limit, PathId, Viewer, id_from
from tintype.api.graph import RelationView, show_relation
from tintype.base.ids import AccountId
from tintype.graph import PeoplePage, Seen
from tintype.media import urls_of

FewLimit = Annotated[int, QueryParameter(description="How many at most.", ge=1, le=30)]
SMALLEST = "150"


class PersonView(msgspec.Struct, frozen=True):
    """Somebody in a list."""

    account_id: str
    username: str
    full_name: str
    profile_pic_url: str | None
    is_private: bool
    is_verified: bool
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


class SuggestionsView(msgspec.Struct, frozen=True):
    """Suggestions, the best first."""

    suggestions: list[SuggestionView]


def show_person(seen: Seen) -> PersonView:
    """Somebody as the viewer sees them."""
    account = seen.account
    return PersonView(
        account_id=str(account.id),
        username=account.username,
        full_name=account.full_name,
        profile_pic_url=urls_of(account.avatar_folder)[SMALLEST] if account.avatar_folder else None,
        is_private=account.is_private,
        is_verified=account.is_verified,
        relation=show_relation(seen.relation),
    )


def show_people(page: PeoplePage) -> PeopleView:
    """A page as it is sent."""
    return PeopleView(
        [show_person(each) for each in page.people],
        encode_cursor(page.next_before),
        page.next_before is not None,
    )


class PeopleApi(Controller):
    """Who follows whom, and the viewer's own lists."""

    path = "/api/v1"
    tags = ("Graph",)

    @get("/accounts/{account_id:str}/followers", summary="Followers", scope=scopes.READ)
    async def followers(
        self, account_id: PathId, viewer: Viewer, rooms: House, cursor: Cursor = None, limit: Limit = 20
    ) -> PeopleView:
        """Who follows an account, newest first."""
        of, before = AccountId(id_from(account_id)), decode_cursor(cursor)
        return show_people(await rooms.circles.followers(viewer.id, of, before=before, limit=limit))

    @get("/accounts/{account_id:str}/following", summary="Following", scope=scopes.READ)
    async def following(
        self, account_id: PathId, viewer: Viewer, rooms: House, cursor: Cursor = None, limit: Limit = 20
    ) -> PeopleView:
        """Whom an account follows, newest first."""
        of, before = AccountId(id_from(account_id)), decode_cursor(cursor)
        return show_people(await rooms.circles.following(viewer.id, of, before=before, limit=limit))

    @get("/accounts/{account_id:str}/mutuals", summary="Followers you follow", scope=scopes.READ)
    async def mutuals(self, account_id: PathId, viewer: Viewer, rooms: House) -> MutualsView:
        """A few by name, and how many there are."""
        found = await rooms.circles.mutuals(viewer.id, AccountId(id_from(account_id)))
        return MutualsView([show_person(each) for each in found.people], found.count, found.is_exact)

    @get("/follow-requests", summary="Who asks to follow me", scope=scopes.READ)
    async def requests(
        self, viewer: Viewer, rooms: House, cursor: Cursor = None, limit: Limit = 20
    ) -> PeopleView:
        """Requests that wait for the viewer's answer, newest first."""
        before = decode_cursor(cursor)
        return show_people(await rooms.circles.requests(viewer.id, before=before, limit=limit))

    @get("/follow-requests/sent", summary="Whom I asked", scope=scopes.READ)
    async def sent_requests(
        self, viewer: Viewer, rooms: House, cursor: Cursor = None, limit: Limit = 20
    ) -> PeopleView:
        """The viewer's own requests that wait, newest first."""
        before = decode_cursor(cursor)
        return show_people(await rooms.circles.sent_requests(viewer.id, before=before, limit=limit))

    @get("/blocks", summary="Whom I blocked", scope=scopes.READ)
    async def blocks(
        self, viewer: Viewer, rooms: House, cursor: Cursor = None, limit: Limit = 20
    ) -> PeopleView:
        """The viewer's blocks, newest first."""
        before = decode_cursor(cursor)
        return show_people(await rooms.circles.blocks(viewer.id, before=before, limit=limit))

    @get("/mutes", summary="Whom I muted", scope=scopes.READ)
    async def mutes(
        self, viewer: Viewer, rooms: House, cursor: Cursor = None, limit: Limit = 20
    ) -> PeopleView:
        """Whose posts or stories the viewer does not see."""
        before = decode_cursor(cursor)
        return show_people(await rooms.circles.treated(viewer.id, "muted", before=before, limit=limit))

    @get("/close-friends", summary="My close friends", scope=scopes.READ)
    async def close_friends(
        self, viewer: Viewer, rooms: House, cursor: Cursor = None, limit: Limit = 20
    ) -> PeopleView:
        """With whom the viewer shares more."""
        before = decode_cursor(cursor)
        return show_people(
            await rooms.circles.treated(viewer.id, "close_friends", before=before, limit=limit)
        )

    @get("/restrictions", summary="Whom I restricted", scope=scopes.READ)
    async def restrictions(
        self, viewer: Viewer, rooms: House, cursor: Cursor = None, limit: Limit = 20
    ) -> PeopleView:
        """Whose comments only they themselves see under the viewer's posts."""
        before = decode_cursor(cursor)
        return show_people(await rooms.circles.treated(viewer.id, "restricted", before=before, limit=limit))

    @get("/suggestions", summary="Whom to follow", scope=scopes.READ)
    async def suggestions(self, viewer: Viewer, rooms: House, limit: FewLimit = 20) -> SuggestionsView:
        """Friends of friends, then those whom many follow."""
        found = await rooms.suggestions.read(viewer.id, limit=limit)
        return SuggestionsView([SuggestionView(show_person(each.seen), each.followed_by) for each in found])
