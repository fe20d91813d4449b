"""The stories room as others use it: its parts, put together."""

from collections.abc import AsyncIterator
from functools import partial

from shardwright.running import Shards
from tintype.base.belongings import Record
from tintype.base.ids import AccountId
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.limits import Limiter
from tintype.base.outbox import Outbox
from tintype.base.wire import Wire
from tintype.graph import Graph, Sight
from tintype.media import MediaLibrary
from tintype.ranking import Ranking
from tintype.stories.answering import Answering
from tintype.stories.clocks import Clocks
from tintype.stories.days import Days
from tintype.stories.events import StoryPublished, StoryRemoved, StoryReplied, StorySeen
from tintype.stories.highlights import Highlights
from tintype.stories.keeping import Keeping
from tintype.stories.moderating import Moderating
from tintype.stories.publishing import Publishing
from tintype.stories.reading import Reading
from tintype.stories.rings import Rings
from tintype.stories.seeing import Seeing
from tintype.stories.store import Desk, load_rings
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
        wire: Wire,
        namespace: str,
        stories_per_day: int,
    ) -> None:
        rings = Rings(wire, namespace, partial(load_rings, shards))
        desk = Desk(shards, outbox, sight, graph, media, ranking, limiter, rings, stories_per_day)
        self._looking = ranking.looking
        self.days = Days(desk)
        reading = Reading(desk)
        self._seeing = Seeing(desk, self.days, reading)
        self._publishing = Publishing(desk, self.days)
        answering = Answering(desk, reading, self._seeing)
        self.highlights = Highlights(desk)
        self._keeping = Keeping(desk, self._seeing, self.highlights)
        self.get, self.find_many, self.of_account = reading.get, reading.find_many, reading.of_account
        self.clocks, self.rings = Clocks(desk), rings
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
            on(StorySeen, self._learn_of_view, name="stories-learn-view"),
            on(StoryReplied, self._learn_of_reply, name="stories-learn-reply"),
            on(StoryPublished, self._publishing.on_change, name="stories-ring-published"),
            on(StoryRemoved, self._publishing.on_change, name="stories-ring-removed"),
        ]

    def schedules(self) -> list[Schedule]:
        """What this room repeats by the clock."""
        return [*self.days.schedules(), *self._keeping.schedules()]

    async def _learn_of_view(self, event: StorySeen) -> None:
        """Whose stories somebody watches says how close the two are."""
        await self._looking.note_story_view(event.viewer_id, event.author_id, event.story_id)

    async def _learn_of_reply(self, event: StoryReplied) -> None:
        """So does writing to somebody."""
        await self._looking.note_message(event.account_id, event.author_id, event.reply_id)
