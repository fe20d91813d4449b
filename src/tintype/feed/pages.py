"""A page of the feed: while it is built, as it is returned, and as it is cached.

Two rules hold whatever the order is. The reader's own posts are shown only while they are new, on ranked pages first.
On ranked pages nobody has more than `MAX_IN_A_ROW` posts in a row while there are others.
"""

from collections.abc import Sequence

import msgspec

from tintype.base.ids import AccountId, PostId
from tintype.feed.cursors import Mode
from tintype.feed.hydrated import FeedEntry, Hydrated
from tintype.feed.merged_timeline import MergedTimeline
from tintype.feed.viewer_state import ViewerState
from tintype.ranking import ViewerFeatures

MAX_IN_A_ROW = 2
"""Of one author, and across pages: neither the last two of a page nor the first two of the next are of one author."""


class FeedPage(msgspec.Struct, frozen=True):
    """Posts in the order to show them, and where the next page begins."""

    entries: list[FeedEntry]
    next_cursor: str | None


class RankedWindow(msgspec.Struct, frozen=True):
    """The posts of a window in the order that was chosen for a viewer with these features."""

    candidates: Sequence[PostId]
    features: ViewerFeatures
    order: Sequence[PostId]
    expires_at: float


class PageBuilder(msgspec.Struct):
    """A page that is being built: what it is built from, and the entries so far."""

    viewer: AccountId
    mode: Mode
    limit: int
    timeline: MergedTimeline
    features: ViewerFeatures | None = None
    """The viewer's features for ranking; None where the page is not ranked."""
    viewer_state: ViewerState | None = None
    """The viewer's state as of the read that the page is built from."""
    new_from: int = 0
    """Posts with this id or a larger one have just been published."""
    is_first: bool = True
    entries: list[FeedEntry] = []
    waiting: list[FeedEntry] = []
    """Posts that were put aside: each would be one too many of its author in a row."""
    hydrated: list[Hydrated] = []

    @property
    def room_left(self) -> int:
        """How many more entries fit."""
        return self.limit - len(self.entries)

    def add(self, hydrated: Hydrated) -> None:
        """Append hydrated posts to the page, in their order."""
        self.hydrated.append(hydrated)
        viewer, new_from = self.viewer, self.new_from
        self.entries += [
            each for each in hydrated.entries if each.cached_post.author_id != viewer or each.id >= new_from
        ]

    def arrange(self, hydrated: Hydrated) -> None:
        """Append hydrated posts to the page: new ones of the viewer first, and no author too often in a row."""
        self.hydrated.append(hydrated)
        own, others = list[FeedEntry](), list[FeedEntry]()
        for each in hydrated.entries:
            if each.cached_post.author_id != self.viewer:
                others.append(each)
            elif each.id >= self.new_from:
                own.append(each)
        entries, waiting = self.entries, self.waiting
        for each in (*own, *others):
            if waiting or len(entries) >= self.limit or not self._fits(each):
                waiting.append(each)
                self._place_waiting()
            else:
                entries.append(each)

    def arrange_waiting(self) -> None:
        """Append the posts that were put aside, although nobody else's are left to stand between them."""
        self._place_waiting()
        room = self.room_left
        self.entries += self.waiting[:room]
        del self.waiting[:room]

    def _place_waiting(self) -> None:
        while self.room_left > 0:
            fitting = next((each for each in self.waiting if self._fits(each)), None)
            if fitting is None:
                return
            self.waiting.remove(fitting)
            self.entries.append(fitting)

    def _fits(self, entry: FeedEntry) -> bool:
        entries, author, count = self.entries, entry.cached_post.author_id, len(self.entries)
        if not count or entries[-1].cached_post.author_id != author:
            return True
        is_edge = count == self.limit - 1 or (count == 1 and not self.is_first)
        return not is_edge and (count == 1 or entries[-MAX_IN_A_ROW].cached_post.author_id != author)


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
