"""The stories room as others use it: its parts, put together."""

from collections.abc import AsyncIterator

from shardwright.running import Shards
from tintype.base.belongings import Record
from tintype.base.cache import Cache
from tintype.base.ids import AccountId
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.limits import Limiter
from tintype.base.outbox import Outbox
from tintype.graph import Graph, Sight
from tintype.media import MediaLibrary
from tintype.ranking import Ranking
from tintype.stories.answering import Answering
from tintype.stories.clocks import Clocks
from tintype.stories.days import Days
from tintype.stories.events import StoryPublished, StoryRemoved, StorySeen
from tintype.stories.highlights import Highlights
from tintype.stories.keeping import Keeping
from tintype.stories.moderating import Moderating
from tintype.stories.publishing import Publishing
from tintype.stories.reading import Reading
from tintype.stories.seeing import Seeing
from tintype.stories.store import Desk
from tintype.stories.tray import Trays


class Stories:
    """Stories, their viewers and highlights."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        sight: Sight,
        *,
        graph: Graph,
        media: MediaLibrary,
        ranking: Ranking,
        limiter: Limiter,
        cache: Cache,
        stories_per_day: int,
    ) -> None:
        desk = Desk(shards, outbox, sight, graph, media, ranking, limiter, cache, stories_per_day)
        self.days = Days(desk)
        reading = Reading(desk)
        self._seeing = Seeing(desk, self.days, reading)
        self._publishing = Publishing(desk, self.days)
        answering = Answering(desk, reading, self._seeing)
        self.highlights = Highlights(desk)
        self._keeping = Keeping(desk, self._seeing, self.highlights)
        self.get, self.find_many, self.of_account = reading.get, reading.find_many, reading.of_account
        self.clocks = Clocks(desk)
        self.tray = Trays(desk, self.clocks, reading).read
        self.forget_pictures = self._publishing.forget_pictures
        self.publish, self.remove = self._publishing.publish, self._publishing.remove
        moderating = Moderating(desk, reading, self.highlights)
        self.look, self.drop = moderating.look, moderating.drop
        self.hide, self.restore = moderating.hide, moderating.restore
        self.see, self.see_many, self.viewers = self._seeing.see, self._seeing.see_many, self._seeing.viewers
        self.react, self.reply = answering.react, answering.reply
        self.find_replies, self.find_reactions = answering.find_replies, answering.find_reactions
        self.sweep = self._keeping.sweep
        self.erase, self.count_left = self._keeping.erase, self._keeping.count_left

    def export(self, account_id: AccountId) -> AsyncIterator[Record]:
        """What this person has shown, kept, said and seen."""
        return self._keeping.export(account_id)

    def handlers(self) -> list[Handler]:
        """What this room does when something has happened."""
        return [
            on(StorySeen, self._seeing.count, name="stories-views"),
            on(StoryPublished, self._publishing.on_change, name="stories-ring-published"),
            on(StoryRemoved, self._publishing.on_change, name="stories-ring-removed"),
        ]

    def schedules(self) -> list[Schedule]:
        """What this room repeats by the clock."""
        return [*self.days.schedules(), *self._keeping.schedules()]
