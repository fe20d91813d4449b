"""What cases look like to the rest of the house. Who reported is in none of it."""

from datetime import datetime
from typing import Any

import msgspec

from tintype.base.ids import AccountId
from tintype.moderation.kinds import Entry, ObjectKind, ObjectState, Reason, Status

LONGEST_TEXT = 1_000


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One object that was reported, and where it stands."""

    id: int
    kind: ObjectKind
    object_id: int
    owner_id: AccountId
    evidence: dict[str, Any]
    """How it looked when it was first reported."""
    status: Status
    opened_id: int
    report_count: int
    """How many people reported it since it was opened."""
    object_state: ObjectState
    outcome: str
    outcome_id: int | None
    claimed_by: AccountId | None
    claimed_until: datetime | None
    appeal: str
    appealed_id: int | None


class Complaint(msgspec.Struct, frozen=True):
    """What somebody said about an object, without who."""

    reason: Reason
    note: str
    reported_at: datetime


class LogEntry(msgspec.Struct, frozen=True):
    """One act of a moderator, as it is kept for good."""

    id: int
    case_id: int
    moderator_id: AccountId
    action: Entry
    reason: str
    before: dict[str, Any]
    after: dict[str, Any]


class Look(msgspec.Struct, frozen=True):
    """An object as somebody saw it: whose it is, and what it showed."""

    owner_id: AccountId
    evidence: dict[str, Any]


class CasePlace(msgspec.Struct, frozen=True):
    """Where a page of the queue goes on."""

    report_count: int
    opened_id: int


class CasePage(msgspec.Struct, frozen=True):
    """A part of the queue."""

    cases: list[Case]
    next_place: CasePlace | None


class LogPage(msgspec.Struct, frozen=True):
    """A part of the log, newest first."""

    entries: list[LogEntry]
    next_before: int | None
