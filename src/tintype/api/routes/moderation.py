"""The moderation queue, decisions and log over HTTP. Everybody but moderators gets 404."""

from typing import Annotated, Any

import msgspec
from litestar import Controller, Request, delete, get, post, put
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.params import FromQuery, JSONBody, QueryParameter

from tintype.accounts import Account
from tintype.api.http import scopes
from tintype.api.http.authentication import Authenticator
from tintype.api.http.cursors import decode_compound_cursor, decode_cursor, encode_compound_cursor, next_page
from tintype.api.http.dependencies import (
    Cursor,
    InjectedRooms,
    Limit,
    PathId,
    Viewer,
    parse_account_id,
    parse_id,
)
from tintype.api.views.context import context_for
from tintype.api.views.moderation import (
    CaseDetailsView,
    CasesView,
    CaseView,
    ComplaintView,
    ModerationLogView,
    show_case,
    show_entry,
)
from tintype.base.ids import AccountId, IdText
from tintype.moderation import Action, Case, CaseCursor, CaseFilter, CaseStatus, ObjectKind, QueueOrder
from tintype.wiring import Rooms

Words = Annotated[str, msgspec.Meta(max_length=5_000, description="At most 1,000 characters.")]
ModeratorFilter = Annotated[
    str | None, QueryParameter(description="The id of a moderator.", pattern=r"^[1-9][0-9]{0,18}$")
]


class NewCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something to open a case about without a report."""

    kind: ObjectKind
    object_id: IdText
    reason: Words


class NewModerationAction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The action to take and its reason; both are logged."""

    action: Action
    reason: Words


class Assignment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The moderator to assign a case to; by default the viewer."""

    moderator_id: IdText | None = None


async def check_moderator(
    connection: ASGIConnection[Any, Any, Any, Any],
    _handler: BaseRouteHandler,
) -> None:
    """Refuse everybody else before the body is read: a validation error would reveal that the route exists."""
    if isinstance(connection, Request):
        authenticator: Authenticator = connection.app.state.authenticator
        rooms: Rooms = connection.app.state.rooms
        rooms.moderation.require_moderator(await authenticator.viewer(connection))


class ModerationApi(Controller):
    """The moderation queue and log, for moderators alone."""

    path = "/api/v1/moderation"
    guards = (check_moderator,)
    tags = ("Moderation",)

    @get("/cases", summary="The queue", scope=scopes.MODERATION)
    async def cases(  # noqa: PLR0917 - each is a filter that callers give by name
        self,
        viewer: Viewer,
        rooms: InjectedRooms,
        status: FromQuery[CaseStatus] = "open",
        order: FromQuery[QueueOrder] = "oldest",
        kind: FromQuery[ObjectKind | None] = None,
        mine: FromQuery[bool] = False,
        free: FromQuery[bool] = False,
        appealed: FromQuery[bool] = False,
        cursor: Cursor = None,
        limit: Limit = 20,
    ) -> CasesView:
        """Open or closed cases: the oldest first, or those with the most reports."""
        moderator = rooms.moderation.require_moderator(viewer)
        page = await rooms.moderation.get_queue_page(
            moderator,
            CaseFilter(
                status=status, order=order, kind=kind, is_mine=mine, is_free=free, is_appealed=appealed
            ),
            cursor=CaseCursor(*decode_compound_cursor(cursor, 2)) if cursor else None,
            limit=limit,
        )
        people = await _people(
            rooms, *(each for case in page.cases for each in (case.owner_id, case.claimed_by))
        )
        shown = [show_case(case, people, context_for(viewer, rooms)) for case in page.cases]
        last = page.next_cursor
        cursor = encode_compound_cursor(last.report_count, last.opened_id) if last else None
        return CasesView(shown, cursor, last is not None)

    @post("/cases", summary="Open a case", scope=scopes.MODERATION)
    async def open(self, data: JSONBody[NewCase], viewer: Viewer, rooms: InjectedRooms) -> CaseView:
        """Open a case without a report, or return the existing one."""
        moderator = rooms.moderation.require_moderator(viewer)
        case = await rooms.moderation.open_case(moderator, data.kind, parse_id(data.object_id), data.reason)
        return await _show_one(rooms, viewer, case)

    @get("/cases/{case_id:str}", summary="One case", scope=scopes.MODERATION)
    async def case(self, case_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> CaseDetailsView:
        """A case with its reports and the actions taken."""
        rooms.moderation.require_moderator(viewer)
        moderation, number = rooms.moderation, parse_id(case_id)
        case, history = await moderation.get_case(number), await moderation.list_history(number)
        people = await _people(
            rooms, case.owner_id, case.claimed_by, *(each.moderator_id for each in history)
        )
        context = context_for(viewer, rooms)
        complaints = await moderation.list_complaints(number)
        shown = [ComplaintView(each.reason, each.note, each.reported_at) for each in complaints]
        entries = [show_entry(each, people, context) for each in history]
        return CaseDetailsView(
            show_case(case, people, context), await moderation.count_reasons(number), shown, entries
        )

    @put("/cases/{case_id:str}/claim", summary="Claim or assign", scope=scopes.MODERATION)
    async def claim(
        self, case_id: PathId, data: JSONBody[Assignment], viewer: Viewer, rooms: InjectedRooms
    ) -> CaseView:
        """Claim a case for half an hour, or assign it to another moderator."""
        moderation = rooms.moderation
        moderator = moderation.require_moderator(viewer)
        if data.moderator_id is None:
            case = await moderation.claim_case(moderator, parse_id(case_id))
        else:
            case = await moderation.assign_case(
                moderator, parse_id(case_id), parse_account_id(data.moderator_id)
            )
        return await _show_one(rooms, viewer, case)

    @delete("/cases/{case_id:str}/claim", summary="Release", status_code=200, scope=scopes.MODERATION)
    async def release(self, case_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> CaseView:
        """Release a claimed case."""
        moderator = rooms.moderation.require_moderator(viewer)
        case = await rooms.moderation.release_case(moderator, parse_id(case_id))
        return await _show_one(rooms, viewer, case)

    @post("/cases/{case_id:str}/acts", summary="Decide", scope=scopes.MODERATION)
    async def act(
        self, case_id: PathId, data: JSONBody[NewModerationAction], viewer: Viewer, rooms: InjectedRooms
    ) -> CaseView:
        """Dismiss, warn, hide, restore, delete, suspend, unsuspend, or add a note."""
        moderator = rooms.moderation.require_moderator(viewer)
        case = await rooms.moderation.act_on_case(moderator, parse_id(case_id), data.action, data.reason)
        return await _show_one(rooms, viewer, case)

    @get("/log", summary="The moderation log", scope=scopes.MODERATION)
    async def log(
        self,
        viewer: Viewer,
        rooms: InjectedRooms,
        moderator_id: ModeratorFilter = None,
        cursor: Cursor = None,
        limit: Limit = 50,
    ) -> ModerationLogView:
        """Every action of every moderator, newest first. Entries are never changed or removed."""
        rooms.moderation.require_moderator(viewer)
        page = await rooms.moderation.get_log_page(
            moderator_id=parse_account_id(moderator_id) if moderator_id else None,
            before=decode_cursor(cursor),
            limit=limit,
        )
        people = await _people(rooms, *(each.moderator_id for each in page.entries))
        shown = [show_entry(each, people, context_for(viewer, rooms)) for each in page.entries]
        return ModerationLogView(shown, *next_page(page.next_before))


async def _show_one(rooms: Rooms, viewer: Account, case: Case) -> CaseView:
    people = await _people(rooms, case.owner_id, case.claimed_by)
    return show_case(case, people, context_for(viewer, rooms))


async def _people(rooms: Rooms, *ids: AccountId | None) -> dict[AccountId, Account]:
    return await rooms.accounts.find_many(each for each in ids if each is not None)
