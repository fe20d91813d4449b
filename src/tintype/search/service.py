"""Finds people, tags and places; the parts behind one door."""

from collections.abc import AsyncIterator

from shardwright.running import Shards
from tintype.base.belongings import Record
from tintype.base.ids import AccountId, PostId
from tintype.base.jobs import Handler, Schedule
from tintype.base.limits import Limiter
from tintype.graph import Graph, Sight
from tintype.posts import Posts
from tintype.search.filing import QUERIES
from tintype.search.people import KIND as PERSON
from tintype.search.people import People
from tintype.search.places import Places
from tintype.search.rebuild import Progress, Rebuild
from tintype.search.recent import RecentSearches
from tintype.search.scoring import Scoring
from tintype.search.tags import Tags
from tintype.search.topics import PLACE, TAG, Topics

ERASED_AT_ONCE = 100


class Search:
    """Finds people, tags and places, lists the posts of a tag or place, and remembers what one looked for."""

    def __init__(self, shards: Shards, sight: Sight, graph: Graph, posts: Posts, limiter: Limiter) -> None:
        self._shards = shards
        self.people = People(shards, sight, graph)
        self.tags = Tags(shards)
        self.places = Places(shards, limiter)
        self.topics = Topics(shards, posts, self._recount)
        self.recent = RecentSearches(shards, sight, self.places)
        self.scoring = Scoring(shards, self.topics, self._recount)

    async def rebuild(self, progress: Progress) -> dict[str, int]:
        """Build the index anew from the other rooms, while everything goes on."""
        pass_ = Rebuild(
            self._shards, people=self.people, topics=self.topics, tags=self.tags, places=self.places
        )
        return await pass_.run(progress)

    def handlers(self) -> list[Handler]:
        """What this room does when something has happened."""
        return [*self.people.handlers(), *self.topics.handlers()]

    def schedules(self) -> list[Schedule]:
        """What this room repeats by the clock."""
        return self.scoring.schedules()

    async def export(self, account_id: AccountId) -> AsyncIterator[Record]:
        """Recent searches; what else is filed here belongs to other rooms."""
        for each in reversed(await self.recent.list(account_id)):
            yield Record("recent_searches.json", {"kind": each.kind, "subject": each.subject})

    async def erase(self, account_id: AccountId) -> int:
        """Take somebody and their posts out of the index, a few at a time, and forget their searches."""
        erased = await self.recent.clear(account_id)
        rows = await self._shards.owner(account_id).fetch(
            QUERIES.page_filings, owner_id=account_id, limit=ERASED_AT_ONCE
        )
        for row in rows:
            if row["kind"] == PERSON:
                await self.people.withdraw(account_id)
            else:
                await self.topics.withdraw(PostId(int(row["subject"])), account_id)
        return erased + len(rows)

    async def count_left(self, account_id: AccountId) -> int:
        """Everything filed of somebody's, and their searches."""
        filed: int = await self._shards.owner(account_id).fetch_value(
            QUERIES.count_filings, owner_id=account_id
        )
        return filed + await self.recent.count(account_id)

    async def _recount(self, topic: str) -> None:
        if topic.startswith(TAG):
            await self.tags.file(topic.removeprefix(TAG))
        elif topic.startswith(PLACE):
            await self.places.file(topic.removeprefix(PLACE))
