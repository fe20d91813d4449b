"""A page of the feed: while it is built, as it is returned, and as it is cached."""

import msgspec

from tintype.base.ids import AccountId
from tintype.feed.cursors import Mode
from tintype.feed.hydrate import FeedEntry, Hydrated
from tintype.feed.merged_timeline import MergedTimeline
from tintype.ranking import ViewerFeatures


class FeedPage(msgspec.Struct, frozen=True):
    """Posts in the order to show them, and where the next page begins."""

    entries: list[FeedEntry]
    next_cursor: str | None


class PageBuilder(msgspec.Struct):
    """A page that is being built: what it is built from, and the entries so far."""

    viewer: AccountId
    mode: Mode
    limit: int
    timeline: MergedTimeline
    features: ViewerFeatures | None = None
    """The viewer's features for ranking; None where the page is not ranked."""
    entries: list[FeedEntry] = []
    hydrated: list[Hydrated] = []

    @property
    def room_left(self) -> int:
        """How many more entries fit."""
        return self.limit - len(self.entries)

    def add(self, hydrated: Hydrated) -> None:
        """Append hydrated posts to the page."""
        self.hydrated.append(hydrated)
        self.entries += hydrated.entries


class CachedPage(msgspec.Struct, frozen=True):
    """A first page, and what it was built from."""

    builder: PageBuilder
    page: FeedPage
    expires_at: float

    def is_usable(self, builder: PageBuilder, now: float) -> bool:
        """Whether a page that is built from this now would start from the same objects."""
        mine = self.builder
        return (
            now < self.expires_at
            and builder.features is mine.features
            and builder.limit == mine.limit
            and builder.mode == mine.mode
            and builder.timeline.has_same_lists(mine.timeline)
        )
