"""Moderation: reports, the queue, the acts of moderators and their log.

Owns cases, their reports and the log, in four partitions (shards by hash of "moderation-desk-0" to "-3"), and traces of
them with each person concerned. Nobody is ever told who reported something.
"""

from tintype.moderation.dependencies import ModerationDependencies
from tintype.moderation.errors import (
    ActionUnsuitable,
    AppealClosed,
    CaseClaimed,
    CaseNotFound,
    NotAModerator,
    ObjectGone,
    ObjectNotFound,
    OwnCase,
    OwnObject,
    RankTooLow,
    TextMissing,
    TextTooLong,
)
from tintype.moderation.events import CaseDecided
from tintype.moderation.kinds import (
    Action,
    CaseStatus,
    LogAction,
    ObjectKind,
    ObjectState,
    QueueOrder,
    Reason,
)
from tintype.moderation.models import Case, CaseCursor, CaseFilter, CasePage, Complaint, LogEntry, LogPage
from tintype.moderation.service import Moderation
from tintype.moderation.store import QUERIES

__all__ = [
    "QUERIES",
    "Action",
    "ActionUnsuitable",
    "AppealClosed",
    "Case",
    "CaseClaimed",
    "CaseCursor",
    "CaseDecided",
    "CaseFilter",
    "CaseNotFound",
    "CasePage",
    "CaseStatus",
    "Complaint",
    "LogAction",
    "LogEntry",
    "LogPage",
    "Moderation",
    "ModerationDependencies",
    "NotAModerator",
    "ObjectGone",
    "ObjectKind",
    "ObjectNotFound",
    "ObjectState",
    "OwnCase",
    "OwnObject",
    "QueueOrder",
    "RankTooLow",
    "Reason",
    "TextMissing",
    "TextTooLong",
]
