"""The types of ranking's interface."""

from typing import Literal

import msgspec

from tintype.base.ids import AccountId, PostId

InteractionKind = Literal["like", "comment", "save", "share", "message", "visit", "story_view", "linger"]
LINGER_MS = 10_000
"""A viewer who looks at a post for longer than this lingers."""


class RankedPost(msgspec.Struct, frozen=True, gc=False):
    """A post and its score for the viewer: a higher score comes first."""

    post_id: PostId
    score: float
    author_id: AccountId | None = None
    """None when the features of the post are unknown."""


class Interaction(msgspec.Struct, frozen=True, kw_only=True):
    """Something a viewer did that shows whom or what they care for. Of one object, the newest change counts."""

    viewer_id: AccountId
    kind: InteractionKind
    object_id: int
    """What the viewer interacted with: the post, the comment, the message."""
    change_id: int
    author_id: AccountId
    post_id: PostId | None = None
    is_on: bool = True
    """False when it was undone, such as an unlike."""


class PostFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the features of a post are computed from."""

    id: PostId
    author_id: AccountId
    hashtags: tuple[str, ...]
    is_video: bool
    is_album: bool
    reactions: int = 0
    """Its likes, and its comments twice."""


class Impression(msgspec.Struct, frozen=True):
    """A post that was on somebody's screen, and for how long."""

    post_id: PostId
    spent_ms: int


class Signal(msgspec.Struct, frozen=True):
    """One feature of a post: its value from 0 to 1, and its contribution to each outcome, in log-odds."""

    name: str
    words: str
    value: float
    contributions: dict[str, float]


class Outcome(msgspec.Struct, frozen=True):
    """How likely the viewer is to do something, and what that is worth."""

    name: str
    probability: float
    value: float


class Explanation(msgspec.Struct, frozen=True):
    """Why a post is where it is, for the reader of the feed."""

    post_id: str
    summary: str
    reasons: list[str]
    """The signals that the summary names, the strongest first, for clients that translate it."""
    score: float
    weights: str
    """The version of the weights."""
    arm: str
    """The viewer's arm of the experiment "feed-order"; empty outside of it."""
    outcomes: list[Outcome]
    signals: list[Signal]
    factors: dict[str, float]
    """What the sum of the outcomes is multiplied with."""
