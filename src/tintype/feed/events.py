"""Events that the feed publishes to itself: parts of large jobs, and changes of what a timeline is made of."""

from tintype.base.events import Event
from tintype.base.ids import AccountId, PostId


class FanOutDue(Event, frozen=True):
    """A post must still be fanned out to the followers with ids above `after` and up to `until`."""

    post_id: PostId
    author_id: AccountId
    after: int
    until: int


class TagFollowChanged(Event, frozen=True):
    """Somebody followed a hashtag, or stopped: their timeline must be built again."""

    account_id: AccountId
    tag: str
    is_following: bool


class StarRisen(Event, frozen=True):
    """An author has become a celebrity: the followers' timelines must be marked to merge the author's own list."""

    author_id: AccountId
    change_id: int
