"""Reporting something, and what was decided about one's own, over HTTP."""

from datetime import datetime
from typing import Annotated

import msgspec
from litestar import Controller, get, post
from litestar.params import JSONBody

from shardwright.ids import Layout
from tintype.api import scopes
from tintype.api.given import House, PathId, Viewer, id_from
from tintype.base.ids import IdText
from tintype.moderation import Case, ObjectKind, Reason

Words = Annotated[str, msgspec.Meta(max_length=5_000)]


class NewReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is wrong with what."""

    kind: ObjectKind
    object_id: IdText
    reason: Reason
    note: Annotated[str, msgspec.Meta(max_length=5_000, description="At most 1,000 characters.")] = ""


class DecisionView(msgspec.Struct, frozen=True):
    """What moderators decided about something of the viewer's."""

    case_id: str
    kind: ObjectKind
    object_id: str
    outcome: str
    decided_at: datetime | None
    may_appeal: bool
    appeal: str


class DecisionsView(msgspec.Struct, frozen=True):
    """All of them, newest first."""

    decisions: list[DecisionView]


class NewAppeal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why it should be looked at again."""

    text: Words


class ReportsApi(Controller):
    """Reports, and the other side of them."""

    path = "/api/v1"
    tags = ("Reports",)

    @post("/reports", summary="Report something", status_code=204, scope=scopes.ACCOUNT_WRITE)
    async def report(self, data: JSONBody[NewReport], viewer: Viewer, rooms: House) -> None:
        """Bring an account, post, comment or story to the moderators. Nobody learns who did; once is enough."""
        await rooms.moderation.reporting.report(
            data.kind, id_from(data.object_id), viewer.id, reason=data.reason, note=data.note
        )

    @get("/decisions", summary="Decisions about one's own", scope=scopes.READ)
    async def decisions(self, viewer: Viewer, rooms: House) -> DecisionsView:
        """What moderators decided about the viewer's account, posts and comments."""
        layout = rooms.shards.map.layout
        found = await rooms.moderation.reporting.decisions(viewer.id)
        return DecisionsView([_show(case, layout) for case in found])

    @post(
        "/decisions/{case_id:str}/appeal",
        summary="Appeal",
        status_code=204,
        scope=scopes.ACCOUNT_WRITE,
    )
    async def appeal(self, case_id: PathId, data: JSONBody[NewAppeal], viewer: Viewer, rooms: House) -> None:
        """Ask for a decision to be looked at again, once."""
        await rooms.moderation.reporting.appeal(id_from(case_id), viewer.id, data.text)


def _show(case: Case, layout: Layout) -> DecisionView:
    may_appeal = case.outcome in {"warned", "hidden", "deleted", "suspended"}
    return DecisionView(
        case_id=str(case.id),
        kind=case.kind,
        object_id=str(case.object_id),
        outcome=case.outcome,
        decided_at=layout.id_time(case.outcome_id) if case.outcome_id else None,
        may_appeal=may_appeal and case.appealed_id != case.outcome_id,
        appeal=case.appeal,
    )
