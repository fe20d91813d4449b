"""A page of the feed: in the making, as it is given, and as it is kept."""

import msgspec

from tintype.base.ids import AccountId
from tintype.feed.cursors import Mode
from tintype.feed.sources import Sources
from tintype.feed.visible import Entry, Look
from tintype.ranking import Known


class FeedPage(msgspec.Struct, frozen=True):
    """Posts in the order to show them, and where the next page begins."""

    entries: list[Entry]
    next_cursor: str | None


class Begun(msgspec.Struct):
    """A page in the making."""

    viewer: AccountId
    mode: Mode
    limit: int
    sources: Sources
    known: Known | None = None
    """What is known of the viewer; nothing where nothing is ranked."""
    entries: list[Entry] = []
    looks: list[Look] = []

    @property
    def lacks(self) -> int:
        """How many posts there is room for."""
        return self.limit - len(self.entries)

    def add(self, look: Look) -> None:
        """There is something on it."""
        self.looks.append(look)
        self.entries += look.entries


class Kept(msgspec.Struct, frozen=True):
    """A first page and what it was made of."""

    begun: Begun
    page: FeedPage
    until: float

    def fits(self, begun: Begun, now: float) -> bool:
        """Whether it would be made of the same again."""
        mine = self.begun
        return (
            now < self.until
            and begun.known is mine.known
            and begun.limit == mine.limit
            and begun.mode == mine.mode
            and begun.sources.is_as(mine.sources)
        )
