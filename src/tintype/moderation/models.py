"""The types that the moderation room shows to other rooms. None of them says who reported."""

from datetime import datetime
from typing import Any

import msgspec

from tintype.base.ids import AccountId, MediaId
from tintype.moderation.kinds import CaseStatus, LogAction, ObjectKind, ObjectState, QueueOrder, Reason

LONGEST_TEXT = 1_000


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One reported object, and the state of the case about it."""

    id: int
    kind: ObjectKind
    object_id: int
    owner_id: AccountId
    evidence: dict[str, Any]
    """A snapshot of the object from when it was first reported."""
    status: CaseStatus
    opened_id: int
    report_count: int
    """How many people reported it since the case was opened."""
    object_state: ObjectState
    outcome: str
    outcome_id: int | None
    claimed_by: AccountId | None
    claimed_until: datetime | None
    appeal: str
    appealed_id: int | None

    @property
    def may_appeal(self) -> bool:
        """Whether its owner may appeal: there is a decision against them, and they have not appealed against it yet."""
        is_against_owner = self.outcome in {"warned", "hidden", "deleted", "suspended"}
        return is_against_owner and self.appealed_id != self.outcome_id


class Complaint(msgspec.Struct, frozen=True):
    """What a reporter said about an object, without who."""

    reason: Reason
    note: str
    reported_at: datetime


class LogEntry(msgspec.Struct, frozen=True):
    """One act of a moderator, as the log holds it."""

    id: int
    case_id: int
    moderator_id: AccountId
    action: LogAction
    reason: str
    before: dict[str, Any]
    after: dict[str, Any]


class ObjectSnapshot(msgspec.Struct, frozen=True):
    """An object as somebody saw it: its owner, and what it showed."""

    owner_id: AccountId
    evidence: dict[str, Any]
    media_ids: tuple[MediaId, ...] = ()
    """Files of messages, to be kept while the case is open."""


class CaseFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which cases of the queue to list, and in which order."""

    status: CaseStatus = "open"
    order: QueueOrder = "oldest"
    kind: ObjectKind | None = None
    is_mine: bool = False
    """Only those that the moderator has claimed."""
    is_free: bool = False
    """Only those that nobody has claimed."""
    is_appealed: bool = False


class CaseCursor(msgspec.Struct, frozen=True):
    """A position in the queue, from which the next page goes on."""

    report_count: int
    opened_id: int


class CasePage(msgspec.Struct, frozen=True):
    """A page of the queue."""

    cases: list[Case]
    next_cursor: CaseCursor | None


class LogPage(msgspec.Struct, frozen=True):
    """A page of the log, newest first."""

    entries: list[LogEntry]
    next_before: int | None
