"""What the graph announces."""

from tintype.base.events import Event
from tintype.base.ids import AccountId


class FollowChanged(Event, frozen=True):
    """Somebody began or ceased to follow somebody. Change ids of one follower increase with time."""

    follower_id: AccountId
    followee_id: AccountId
    change_id: int
    is_following: bool
