"""What the graph announces."""

from tintype.base.events import Event
from tintype.base.ids import AccountId


class FollowRequested(Event, frozen=True):
    """Somebody asked to follow a private account."""

    follower_id: AccountId
    followee_id: AccountId


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


class FollowChanged(Event, frozen=True):
    """Somebody began or ceased to follow somebody. Change ids of one follower increase with time."""

    follower_id: AccountId
    followee_id: AccountId
    change_id: int
    is_following: bool
