"""The closed lists of moderation: what can be reported, why, and what can be done about it."""

from typing import Literal, get_args

ObjectKind = Literal["account", "post", "comment", "story"]
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
Entry = Literal[Action, "open", "claim", "release", "assign"]
"""What the log holds: every act of a moderator, also those that decide nothing."""
ObjectState = Literal["visible", "hidden", "deleted", "suspended"]
Status = Literal["open", "closed"]
Order = Literal["oldest", "most_reported"]

KINDS: tuple[ObjectKind, ...] = get_args(ObjectKind)
STATE_AFTER: dict[str, ObjectState] = {
    "hide": "hidden",
    "restore": "visible",
    "delete": "deleted",
    "suspend": "suspended",
    "unsuspend": "visible",
}
"""What shall be true of the object after an act; others leave it as it is."""
OUTCOMES: dict[str, str] = {
    "dismiss": "dismissed",
    "warn": "warned",
    "hide": "hidden",
    "restore": "restored",
    "delete": "deleted",
    "suspend": "suspended",
    "unsuspend": "unsuspended",
}
TOLD = frozenset({"warn", "hide", "delete"})
"""Acts that the owner is told of, in the list of notifications."""
SUITS: dict[ObjectKind, frozenset[str]] = {
    "account": frozenset({"dismiss", "warn", "suspend", "unsuspend", "note"}),
    "post": frozenset({"dismiss", "warn", "hide", "restore", "delete", "note"}),
    "comment": frozenset({"dismiss", "warn", "hide", "restore", "delete", "note"}),
    "story": frozenset({"dismiss", "warn", "hide", "restore", "delete", "note"}),
}
