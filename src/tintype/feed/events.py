"""Events that the feed publishes to itself: parts of large jobs."""

from tintype.base.events import Event
from tintype.base.ids import AccountId, PostId


class FanOutDue(Event, frozen=True):
    """A post must still be fanned out to the followers with ids above `after` and up to `until`."""

    post_id: PostId
    author_id: AccountId
    after: int
    until: int


class StarRisen(Event, frozen=True):
    """An author has become a celebrity: the followers' timelines must be marked to merge the author's own list."""

    author_id: AccountId
    change_id: int
