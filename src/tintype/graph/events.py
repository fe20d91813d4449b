"""Events of the graph."""

from typing import Literal

from tintype.base.events import Event
from tintype.base.ids import AccountId

State = Literal["active", "requested", "none"]
"""The state of a pair of follower and followee."""


class FollowRequested(Event, frozen=True):
    """Somebody requested to follow a private account."""

    follower_id: AccountId
    followee_id: AccountId
    change_id: int = 0


class FollowApproved(Event, frozen=True):
    """A private account approved a follow request."""

    follower_id: AccountId
    followee_id: AccountId


class BlockChanged(Event, frozen=True):
    """Somebody blocked or unblocked somebody. Change ids of one blocker increase with time."""

    blocker_id: AccountId
    blocked_id: AccountId
    change_id: int
    is_blocked: bool
    severs_id: int = 0
    """The block whose severing of follows this change carries: itself, or the block that it lifts."""


class FollowChanged(Event, frozen=True):
    """Somebody began or stopped following somebody. Change ids of one follower increase with time."""

    follower_id: AccountId
    followee_id: AccountId
    change_id: int
    is_following: bool
    is_approved: bool = False
    """The followee has approved, so becoming private in the meantime does not matter."""


class FollowDecided(Event, frozen=True):
    """The followee's side decided otherwise than a change meant; the follower's side is to be corrected."""

    follower_id: AccountId
    followee_id: AccountId
    change_id: int
    state: State
