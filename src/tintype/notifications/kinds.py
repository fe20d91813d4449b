"""The kinds of things that people are told: a closed table, and the only one.

A new kind is a line here and a sentence of the web app; nothing else lists them.
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
]
"""What people may choose about."""
KindName = Literal[ChoosableName, "warning"]
Audience = Literal["off", "following", "everyone"]
"""From whom a kind is told: nobody, people the recipient follows, or everybody."""


@dataclass(frozen=True)
class Kind:
    """How one kind is treated until its recipient chooses otherwise."""

    name: KindName
    urgency: Literal["low", "normal", "high"] = "normal"
    is_pushed: bool = True
    is_from_house: bool = False
    """Told by those who run the place: nobody's name stands beside it, and it cannot be turned off."""


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
        Kind("warning", urgency="high", is_from_house=True),
    )
}
assert set(KINDS) == set(get_args(KindName))  # noqa: S101 - a kind that is named and not described is a mistake here
CHOOSABLE: tuple[ChoosableName, ...] = get_args(ChoosableName)
