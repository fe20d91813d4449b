"""What the feed announces to itself: work that is left to do."""

from tintype.base.events import Event
from tintype.base.ids import AccountId, PostId


class FanOutDue(Event, frozen=True):
    """A post has not reached the followers between two ids yet: above `after`, up to `until`."""

    post_id: PostId
    author_id: AccountId
    after: int
    until: int


class StarRisen(Event, frozen=True):
    """An author has so many followers by now that timelines are to look at the author's own list instead."""

    author_id: AccountId
    change_id: int
