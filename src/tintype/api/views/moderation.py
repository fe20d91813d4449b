"""Moderation cases and the moderation log, for moderators."""

from datetime import datetime
from typing import Any

import msgspec

from tintype.accounts import Account
from tintype.api.views.context import ViewContext
from tintype.base.ids import AccountId
from tintype.moderation import Case, CaseStatus, LogAction, LogEntry, ObjectKind, ObjectState, Reason


class ModeratedAccountView(msgspec.Struct, frozen=True):
    """An account as moderators see it; only the id is left of one that was deleted."""

    account_id: str
    username: str | None
    status: str | None
    role: str | None


class CaseView(msgspec.Struct, frozen=True):
    """A reported object. Who reported it is not shown to anybody."""

    case_id: str
    kind: ObjectKind
    object_id: str
    owner: ModeratedAccountView
    evidence_text: str
    """Its words when it was first reported."""
    claimed_text: str
    """What an encrypted message says, in the reporter's word: the server cannot read it, and nobody can check it."""
    evidence_urls: list[str]
    evidence_voices: list[str]
    """Recordings of reported messages."""
    """Its pictures when it was first reported."""
    status: CaseStatus
    report_count: int
    object_state: ObjectState
    outcome: str
    opened_at: datetime
    claimed_by: ModeratedAccountView | None
    claimed_until: datetime | None
    appeal: str


class ComplaintView(msgspec.Struct, frozen=True):
    """The reason and note of one report."""

    reason: Reason
    note: str
    reported_at: datetime


class ModerationLogEntryView(msgspec.Struct, frozen=True):
    """One action of a moderator. Entries are never changed or removed."""

    entry_id: str
    case_id: str
    moderator: ModeratedAccountView
    action: LogAction
    reason: str
    before: dict[str, str | None]
    after: dict[str, str | None]
    acted_at: datetime


class CaseDetailsView(msgspec.Struct, frozen=True):
    """A case with the reports about it and the actions taken."""

    case: CaseView
    reasons: dict[str, int]
    complaints: list[ComplaintView]
    history: list[ModerationLogEntryView]


class CasesView(msgspec.Struct, frozen=True):
    """A page of the queue."""

    cases: list[CaseView]
    next_cursor: str | None
    has_more: bool


class ModerationLogView(msgspec.Struct, frozen=True):
    """A page of the log, newest first."""

    entries: list[ModerationLogEntryView]
    next_cursor: str | None
    has_more: bool


def show_case(case: Case, people: dict[AccountId, Account], context: ViewContext) -> CaseView:
    """A case for a moderator."""
    folders: list[str] = case.evidence.get("folders", [])
    words = [case.evidence.get(part, "") for part in ("username", "full_name", "text")]
    return CaseView(
        case_id=str(case.id),
        kind=case.kind,
        object_id=str(case.object_id),
        owner=_person(case.owner_id, people),
        evidence_text="\n".join(word for word in words if word),
        claimed_text=case.evidence.get("claimed_text", ""),
        evidence_urls=[context.urls.photo_urls(folder, audience="moderators")["640"] for folder in folders],
        evidence_voices=[
            context.urls.voice_url(folder, audience="moderators")
            for folder in case.evidence.get("voices", [])
        ],
        status=case.status,
        report_count=case.report_count,
        object_state=case.object_state,
        outcome=case.outcome,
        opened_at=context.layout.id_time(case.opened_id),
        claimed_by=_person(case.claimed_by, people) if case.claimed_by else None,
        claimed_until=case.claimed_until,
        appeal=case.appeal,
    )


def show_entry(
    entry: LogEntry, people: dict[AccountId, Account], context: ViewContext
) -> ModerationLogEntryView:
    """An entry of the log for a moderator."""
    return ModerationLogEntryView(
        entry_id=str(entry.id),
        case_id=str(entry.case_id),
        moderator=_person(entry.moderator_id, people),
        action=entry.action,
        reason=entry.reason,
        before=entry.before,
        after=entry.after,
        acted_at=context.layout.id_time(entry.id),
    )


def _person(account_id: AccountId, people: dict[AccountId, Account]) -> ModeratedAccountView:
    known: Any = people.get(account_id)
    if known is None:
        return ModeratedAccountView(str(account_id), None, None, None)
    return ModeratedAccountView(str(account_id), known.username, known.status, known.role)
