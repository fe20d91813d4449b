"""Cases and the log as moderators see them."""

from datetime import datetime
from typing import Any

import msgspec

from shardwright.ids import Layout
from tintype.accounts import Account
from tintype.base.ids import AccountId
from tintype.media import Addresses
from tintype.moderation import Case, Entry, LogEntry, ObjectKind, ObjectState, Reason, Status


class PersonView(msgspec.Struct, frozen=True):
    """Somebody as a moderator needs to know them."""

    account_id: str
    username: str | None
    status: str | None
    role: str | None


class CaseView(msgspec.Struct, frozen=True):
    """A reported object. Who reported it is not shown to anybody."""

    case_id: str
    kind: ObjectKind
    object_id: str
    owner: PersonView
    evidence_text: str
    """Its words when it was first reported."""
    evidence_urls: list[str]
    """Its pictures when it was first reported."""
    status: Status
    report_count: int
    object_state: ObjectState
    outcome: str
    opened_at: datetime
    claimed_by: PersonView | None
    claimed_until: datetime | None
    appeal: str


class ComplaintView(msgspec.Struct, frozen=True):
    """What somebody said about it."""

    reason: Reason
    note: str
    reported_at: datetime


class EntryView(msgspec.Struct, frozen=True):
    """One act of a moderator, as it is kept for good."""

    entry_id: str
    case_id: str
    moderator: PersonView
    action: Entry
    reason: str
    before: dict[str, str | None]
    after: dict[str, str | None]
    acted_at: datetime


class CaseDetailsView(msgspec.Struct, frozen=True):
    """A case with everything that was said and done about it."""

    case: CaseView
    reasons: dict[str, int]
    complaints: list[ComplaintView]
    history: list[EntryView]


class CasesView(msgspec.Struct, frozen=True):
    """A page of the queue."""

    cases: list[CaseView]
    next_cursor: str | None
    has_more: bool


class LogView(msgspec.Struct, frozen=True):
    """A page of the log, newest first."""

    entries: list[EntryView]
    next_cursor: str | None
    has_more: bool


def show_case(case: Case, people: dict[AccountId, Account], layout: Layout, addresses: Addresses) -> CaseView:
    """A case for a moderator."""
    folders: list[str] = case.evidence.get("folders", [])
    words = [case.evidence.get(part, "") for part in ("username", "full_name", "text")]
    return CaseView(
        case_id=str(case.id),
        kind=case.kind,
        object_id=str(case.object_id),
        owner=_person(case.owner_id, people),
        evidence_text="\n".join(word for word in words if word),
        evidence_urls=[addresses.of_pictures(folder, signed=True)["640"] for folder in folders],
        status=case.status,
        report_count=case.report_count,
        object_state=case.object_state,
        outcome=case.outcome,
        opened_at=layout.id_time(case.opened_id),
        claimed_by=_person(case.claimed_by, people) if case.claimed_by else None,
        claimed_until=case.claimed_until,
        appeal=case.appeal,
    )


def show_entry(entry: LogEntry, people: dict[AccountId, Account], layout: Layout) -> EntryView:
    """An entry of the log for a moderator."""
    return EntryView(
        entry_id=str(entry.id),
        case_id=str(entry.case_id),
        moderator=_person(entry.moderator_id, people),
        action=entry.action,
        reason=entry.reason,
        before=entry.before,
        after=entry.after,
        acted_at=layout.id_time(entry.id),
    )


def _person(account_id: AccountId, people: dict[AccountId, Account]) -> PersonView:
    known: Any = people.get(account_id)
    if known is None:
        return PersonView(str(account_id), None, None, None)
    return PersonView(str(account_id), known.username, known.status, known.role)
