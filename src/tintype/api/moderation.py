"""The moderators' queue, decisions and log over HTTP. For everybody else these addresses do not exist."""

from typing import Annotated, Any

import msgspec
from litestar import Controller, Request, delete, get, post, put
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.params import FromQuery, JSONBody, QueryParameter

from tintype.accounts import Account
from tintype.api import scopes
from tintype.api.cases import (
    CaseDetailsView,
    CasesView,
    CaseView,
    ComplaintView,
    LogView,
    show_case,
    show_entry,
)
from tintype.api.cursors import decode_cursor, decode_place, encode_cursor, encode_place
from tintype.api.given import Cursor, House, Limit, PathId, Viewer, id_from
from tintype.base.ids import AccountId, IdText
from tintype.moderation import (
    Action,
    Case,
    CasePlace,
    ObjectKind,
    Order,
    Status,
)
from tintype.wiring import Rooms

Words = Annotated[str, msgspec.Meta(max_length=5_000, description="At most 1,000 characters.")]
NameOf = Annotated[
    str | None, QueryParameter(description="The id of a moderator.", pattern=r"^[1-9][0-9]{0,18}$")
]


class NewCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something a moderator has come across."""

    kind: ObjectKind
    object_id: IdText
    reason: Words


class NewAct(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to do, and why; the log keeps both."""

    action: Action
    reason: Words


class Assignment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who shall look at it; the one who asks without one."""

    moderator_id: IdText | None = None


async def check_moderator(
    connection: ASGIConnection[Any, Any, Any, Any],
    _handler: BaseRouteHandler,
) -> None:
    """Before anything sent is read: what is wrong with it would tell that there is somebody to send it to."""
    if isinstance(connection, Request):
        _, account = await connection.app.state.sessions.recognise(connection)
        connection.app.state.rooms.moderation.check(account)


class ModerationApi(Controller):
    """For moderators alone."""

    path = "/api/v1/moderation"
    guards = (check_moderator,)
    tags = ("Moderation",)

    @get("/cases", summary="The queue", scope=scopes.MODERATION)
    async def cases(  # noqa: PLR0917 - each is a filter that callers give by name
        self,
        viewer: Viewer,
        rooms: House,
        status: FromQuery[Status] = "open",
        order: FromQuery[Order] = "oldest",
        kind: FromQuery[ObjectKind | None] = None,
        mine: FromQuery[bool] = False,
        free: FromQuery[bool] = False,
        appealed: FromQuery[bool] = False,
        cursor: Cursor = None,
        limit: Limit = 20,
    ) -> CasesView:
        """Reported objects: who waits longest or what most people reported, first."""
        moderator = rooms.moderation.check(viewer)
        page = await rooms.moderation.queue.page(
            moderator,
            status=status,
            order=order,
            kind=kind,
            is_mine=mine,
            is_free=free,
            is_appealed=appealed,
            place=CasePlace(*decode_place(cursor, 2)) if cursor else None,
            limit=limit,
        )
        people = await _people(
            rooms, *(each for case in page.cases for each in (case.owner_id, case.claimed_by))
        )
        shown = [
            show_case(case, people, rooms.shards.map.layout, rooms.media.addresses) for case in page.cases
        ]
        last = page.next_place
        cursor = encode_place(last.report_count, last.opened_id) if last else None
        return CasesView(shown, cursor, last is not None)

    @post("/cases", summary="Open a case", scope=scopes.MODERATION)
    async def open(self, data: JSONBody[NewCase], viewer: Viewer, rooms: House) -> CaseView:
        """Open a case without a report, or find the one there is."""
        moderator = rooms.moderation.check(viewer)
        case = await rooms.moderation.deciding.open(
            moderator, data.kind, id_from(data.object_id), data.reason
        )
        return await _show_one(rooms, case)

    @get("/cases/{case_id:str}", summary="One case", scope=scopes.MODERATION)
    async def case(self, case_id: PathId, viewer: Viewer, rooms: House) -> CaseDetailsView:
        """A case with what was said about it, and all that was done."""
        rooms.moderation.check(viewer)
        queue, number = rooms.moderation.queue, id_from(case_id)
        case, history = await queue.get(number), await queue.history(number)
        people = await _people(
            rooms, case.owner_id, case.claimed_by, *(each.moderator_id for each in history)
        )
        layout = rooms.shards.map.layout
        said = [ComplaintView(c.reason, c.note, c.reported_at) for c in await queue.complaints(number)]
        done = [show_entry(each, people, layout) for each in history]
        return CaseDetailsView(
            show_case(case, people, layout, rooms.media.addresses), await queue.reasons(number), said, done
        )

    @put("/cases/{case_id:str}/claim", summary="Claim or assign", scope=scopes.MODERATION)
    async def claim(
        self, case_id: PathId, data: JSONBody[Assignment], viewer: Viewer, rooms: House
    ) -> CaseView:
        """Look at a case for half an hour, alone, or have a colleague do so."""
        moderator, deciding = rooms.moderation.check(viewer), rooms.moderation.deciding
        if data.moderator_id is None:
            case = await deciding.claim(moderator, id_from(case_id))
        else:
            case = await deciding.assign(moderator, id_from(case_id), AccountId(id_from(data.moderator_id)))
        return await _show_one(rooms, case)

    @delete("/cases/{case_id:str}/claim", summary="Release", status_code=200, scope=scopes.MODERATION)
    async def release(self, case_id: PathId, viewer: Viewer, rooms: House) -> CaseView:
        """Leave a case to others."""
        moderator = rooms.moderation.check(viewer)
        return await _show_one(rooms, await rooms.moderation.deciding.release(moderator, id_from(case_id)))

    @post("/cases/{case_id:str}/acts", summary="Decide", scope=scopes.MODERATION)
    async def act(self, case_id: PathId, data: JSONBody[NewAct], viewer: Viewer, rooms: House) -> CaseView:
        """Dismiss, warn, hide, restore, delete, suspend, unsuspend, or note something."""
        moderator = rooms.moderation.check(viewer)
        case = await rooms.moderation.deciding.act(moderator, id_from(case_id), data.action, data.reason)
        return await _show_one(rooms, case)

    @get("/log", summary="What moderators did", scope=scopes.MODERATION)
    async def log(
        self,
        viewer: Viewer,
        rooms: House,
        moderator_id: NameOf = None,
        cursor: Cursor = None,
        limit: Limit = 50,
    ) -> LogView:
        """Every act of every moderator, newest first. Nothing can change or remove an entry."""
        rooms.moderation.check(viewer)
        page = await rooms.moderation.queue.log(
            moderator_id=AccountId(id_from(moderator_id)) if moderator_id else None,
            before=decode_cursor(cursor),
            limit=limit,
        )
        people = await _people(rooms, *(each.moderator_id for each in page.entries))
        shown = [show_entry(each, people, rooms.shards.map.layout) for each in page.entries]
        return LogView(shown, encode_cursor(page.next_before), page.next_before is not None)


async def _show_one(rooms: Rooms, case: Case) -> CaseView:
    people = await _people(rooms, case.owner_id, case.claimed_by)
    return show_case(case, people, rooms.shards.map.layout, rooms.media.addresses)


async def _people(rooms: Rooms, *ids: AccountId | None) -> dict[AccountId, Account]:
    return await rooms.accounts.find_many(each for each in ids if each is not None)
