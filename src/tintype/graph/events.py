"""What the graph announces."""

from typing import Literal

from tintype.base.events import Event
from tintype.base.ids import AccountId

State = Literal["active", "requested", "none"]
"""What is between a follower and a followee."""


class FollowRequested(Event, frozen=True):
    """Somebody asked to follow a private account."""

    follower_id: AccountId
    followee_id: AccountId
    change_id: int = 0


class FollowApproved(Event, frozen=True):
    """A private account said yes to a follower."""

    follower_id: AccountId
    followee_id: AccountId


class BlockChanged(Event, frozen=True):
    """Somebody blocked or unblocked somebody. Change ids of one blocker increase with time."""

    blocker_id: AccountId
    blocked_id: AccountId
    change_id: int
    is_blocked: bool
    severs_id: int = 0
    """The block whose severing this change brings along: its own, or that of the block it lifts."""


class FollowChanged(Event, frozen=True):
    """Somebody began or ceased to follow somebody. Change ids of one follower increase with time."""

    follower_id: AccountId
    followee_id: AccountId
    change_id: int
    is_following: bool
    is_approved: bool = False
    """The followee has agreed, so that becoming private in the meantime does not matter."""


class FollowDecided(Event, frozen=True):
    """The followee's side took a change otherwise than it was meant; the follower's side is to follow suit."""

    follower_id: AccountId
    followee_id: AccountId
    change_id: int
    state: State
