"""Reports to the moderators, and their decisions about one's own content, over HTTP."""

from typing import Annotated

import msgspec
from litestar import Controller, get, post
from litestar.params import JSONBody

from tintype.api.http import scopes
from tintype.api.http.dependencies import InjectedRooms, PathId, Viewer, parse_id
from tintype.api.views.context import context_for
from tintype.api.views.reports import DecisionsView, show_decision
from tintype.base.ids import IdText
from tintype.moderation import ObjectKind, Reason

Words = Annotated[str, msgspec.Meta(max_length=5_000)]


class NewReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A report to the moderators: what is reported, the reason, and a note."""

    kind: ObjectKind
    object_id: IdText
    reason: Reason
    note: Annotated[str, msgspec.Meta(max_length=5_000, description="At most 1,000 characters.")] = ""
    claimed_text: Annotated[
        str,
        msgspec.Meta(max_length=4_000, description="What an encrypted message says, in the reporter's word."),
    ] = ""


class NewAppeal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why the decision should be reviewed."""

    text: Words


class ReportsApi(Controller):
    """Reports, decisions and appeals."""

    path = "/api/v1"
    tags = ("Reports",)

    @post("/reports", summary="Report something", status_code=204, scope=scopes.ACCOUNT_WRITE)
    async def report(self, data: JSONBody[NewReport], viewer: Viewer, rooms: InjectedRooms) -> None:
        """Report something to the moderators, with what it shows now. Reports are anonymous; safe to repeat."""
        await rooms.moderation.report(
            data.kind,
            parse_id(data.object_id),
            viewer.id,
            reason=data.reason,
            note=data.note,
            claimed_text=data.claimed_text,
        )

    @get("/decisions", summary="Decisions about my content", scope=scopes.READ, open_to_suspended=True)
    async def decisions(self, viewer: Viewer, rooms: InjectedRooms) -> DecisionsView:
        """What moderators decided about the viewer's account, posts and comments."""
        found = await rooms.moderation.list_decisions(viewer.id)
        return DecisionsView([show_decision(case, context_for(viewer, rooms)) for case in found])

    @post(
        "/decisions/{case_id:str}/appeal",
        summary="Appeal",
        status_code=204,
        scope=scopes.ACCOUNT_WRITE,
        open_to_suspended=True,
    )
    async def appeal(
        self, case_id: PathId, data: JSONBody[NewAppeal], viewer: Viewer, rooms: InjectedRooms
    ) -> None:
        """Ask the moderators to review a decision, once."""
        await rooms.moderation.appeal(parse_id(case_id), viewer.id, data.text)
