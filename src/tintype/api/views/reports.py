"""Moderators' decisions as the owners of what they are about see them."""

from datetime import datetime

import msgspec

from tintype.api.views.context import ViewContext
from tintype.moderation import Case, ObjectKind


class DecisionView(msgspec.Struct, frozen=True):
    """What moderators decided about the viewer's account, or about something they published."""

    case_id: str
    kind: ObjectKind
    object_id: str
    outcome: str
    decided_at: datetime | None
    may_appeal: bool
    appeal: str


class DecisionsView(msgspec.Struct, frozen=True):
    """Decisions, newest first."""

    decisions: list[DecisionView]


def show_decision(case: Case, context: ViewContext) -> DecisionView:
    """A decision, for the owner of what it is about."""
    return DecisionView(
        case_id=str(case.id),
        kind=case.kind,
        object_id=str(case.object_id),
        outcome=case.outcome,
        decided_at=context.layout.id_time(case.outcome_id) if case.outcome_id else None,
        may_appeal=case.may_appeal,
        appeal=case.appeal,
    )
