"""Moderation: reports, the queue, the acts of moderators and their log.

Owns cases, their reports and the log of acts, on a few desks (shards by hash of "moderation-desk-N"), and traces of
them with each person concerned. Who reported something is never told to anybody.
"""

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
from tintype.moderation.kinds import Action, Entry, ObjectKind, ObjectState, Order, Reason, Status
from tintype.moderation.models import Case, CasePage, CasePlace, Complaint, LogEntry, LogPage
from tintype.moderation.service import QUERIES, Moderation

__all__ = [
    "QUERIES",
    "Action",
    "ActionUnsuitable",
    "AppealClosed",
    "Case",
    "CaseClaimed",
    "CaseDecided",
    "CaseNotFound",
    "CasePage",
    "CasePlace",
    "Complaint",
    "Entry",
    "LogEntry",
    "LogPage",
    "Moderation",
    "NotAModerator",
    "ObjectGone",
    "ObjectKind",
    "ObjectNotFound",
    "ObjectState",
    "Order",
    "OwnCase",
    "OwnObject",
    "RankTooLow",
    "Reason",
    "Status",
    "TextMissing",
    "TextTooLong",
]
