"""What ranking tells others, and what it is told."""

from typing import Literal

import msgspec

from tintype.base.ids import AccountId, PostId

ActKind = Literal["like", "comment", "save", "share", "message", "visit", "story_view", "linger"]
LONG_MS = 10_000
"""Who looks at a post for longer than this lingers."""


class Ranked(msgspec.Struct, frozen=True, gc=False):
    """A post and what it is worth to the viewer: more comes first."""

    post_id: PostId
    score: float
    author_id: AccountId | None = None
    """Known when the features of the post are."""


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """Something a viewer did that shows whom or what they care for. Of one object, the newest change counts."""

    viewer_id: AccountId
    kind: ActKind
    object_id: int
    """What the act was done to: the post, the comment, the message."""
    change_id: int
    author_id: AccountId
    post_id: PostId | None = None
    is_on: bool = True


class Impression(msgspec.Struct, frozen=True):
    """A post that was on somebody's screen, and for how long."""

    post_id: PostId
    spent_ms: int


class Signal(msgspec.Struct, frozen=True):
    """One feature of a post: what it is, from 0 to 1, and what it does to each outcome, in log-odds."""

    name: str
    words: str
    value: float
    contributions: dict[str, float]


class Outcome(msgspec.Struct, frozen=True):
    """How likely the viewer is thought to do something, and what that is worth."""

    name: str
    probability: float
    value: float


class Explanation(msgspec.Struct, frozen=True):
    """Why a post stands where it does, for the one who reads the feed."""

    post_id: str
    summary: str
    reasons: list[str]
    """The signals that the summary names, the strongest first: what other languages say it from."""
    score: float
    weights: str
    """The version of the weights."""
    arm: str
    """The arm of the experiment "feed-order" the viewer is in; empty outside."""
    outcomes: list[Outcome]
    signals: list[Signal]
    factors: dict[str, float]
    """What the sum of the outcomes is multiplied with."""
