"""The fixed lists of moderation: what can be reported, for which reasons, and what moderators can do about it."""

from typing import Literal, get_args

ObjectKind = Literal["account", "post", "comment", "story", "message", "thread"]
Reason = Literal[
    "spam",
    "nudity",
    "hate",
    "violence",
    "bullying",
    "self_harm",
    "false_information",
    "illegal_goods",
    "intellectual_property",
    "impersonation",
    "underage",
    "something_else",
]
Action = Literal["dismiss", "warn", "hide", "restore", "delete", "suspend", "unsuspend", "note"]
LogAction = Literal[Action, "open", "claim", "release", "assign"]
"""The acts that the log holds: actions, and those that decide nothing."""
ObjectState = Literal["visible", "hidden", "deleted", "suspended"]
CaseStatus = Literal["open", "closed"]
QueueOrder = Literal["oldest", "most_reported"]

KINDS: tuple[ObjectKind, ...] = get_args(ObjectKind)
STATE_AFTER: dict[str, ObjectState] = {
    "hide": "hidden",
    "restore": "visible",
    "delete": "deleted",
    "suspend": "suspended",
    "unsuspend": "visible",
}
"""The state of the object after an action; other actions leave it as it is."""
OUTCOMES: dict[str, str] = {
    "dismiss": "dismissed",
    "warn": "warned",
    "hide": "hidden",
    "restore": "restored",
    "delete": "deleted",
    "suspend": "suspended",
    "unsuspend": "unsuspended",
}
NOTIFIED_ACTIONS = frozenset({"warn", "hide", "delete"})
"""Actions that the owner gets a notification of."""
ALLOWED_ACTIONS: dict[ObjectKind, frozenset[str]] = {
    "account": frozenset({"dismiss", "warn", "suspend", "unsuspend", "note"}),
    "post": frozenset({"dismiss", "warn", "hide", "restore", "delete", "note"}),
    "comment": frozenset({"dismiss", "warn", "hide", "restore", "delete", "note"}),
    "story": frozenset({"dismiss", "warn", "hide", "restore", "delete", "note"}),
    "message": frozenset({"dismiss", "warn", "delete", "note"}),
    "thread": frozenset({"dismiss", "warn", "note"}),
}
