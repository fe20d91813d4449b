"""The kinds of notifications: the one place that lists them.

A new kind needs a line here and a sentence in the web app.
"""

from dataclasses import dataclass
from typing import Literal, get_args

ChoosableName = Literal[
    "like",
    "comment_like",
    "comment",
    "reply",
    "mention",
    "tag",
    "follow",
    "request",
    "accepted",
    "story_reply",
    "story_reaction",
    "story_mention",
    "story_answer",
    "story_countdown",
]
"""Kinds that people can configure."""
KindName = Literal[ChoosableName, "warning"]
NotificationAudience = Literal["off", "following", "everyone"]
"""Whose activities of a kind are notified: nobody's, those of people the recipient follows, or everybody's."""


@dataclass(frozen=True)
class Kind:
    """How one kind is delivered unless its recipient has set a preference."""

    name: KindName
    urgency: Literal["low", "normal", "high"] = "normal"
    is_pushed: bool = True
    is_system: bool = False
    """Sent by the operators: it names no actor and cannot be turned off."""


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("like", urgency="low"),
        Kind("comment_like", urgency="low", is_pushed=False),
        Kind("comment"),
        Kind("reply"),
        Kind("mention"),
        Kind("tag"),
        Kind("follow"),
        Kind("request"),
        Kind("accepted"),
        Kind("story_reply"),
        Kind("story_reaction", urgency="low"),
        Kind("story_mention"),
        Kind("story_answer"),
        Kind("story_countdown"),
        Kind("warning", urgency="high", is_system=True),
    )
}
assert set(KINDS) == set(get_args(KindName))  # noqa: S101 - a kind that is named and not described is a mistake here
CHOOSABLE: tuple[ChoosableName, ...] = get_args(ChoosableName)
