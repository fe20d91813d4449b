"""Who saw what: at once with the viewer, and through the outbox with the author."""

from collections.abc import Iterable

from tintype.base.ids import LARGEST_ID, AccountId, has_shard
from tintype.posts import Page, fill_page
from tintype.stories.days import Days
from tintype.stories.errors import StoryNotFound
from tintype.stories.events import StorySeen
from tintype.stories.models import Reaction, Story, StoryId, View
from tintype.stories.reading import Reading
from tintype.stories.store import QUERIES, AtDesk, Desk


class Seeing(AtDesk):
    """Seen stories and their viewers."""

    def __init__(self, desk: Desk, days: Days, reading: Reading) -> None:
        super().__init__(desk)
        self._days, self._reading = days, reading

    async def see(self, story_id: StoryId, viewer: AccountId) -> None:
        """Somebody saw a story; twice is once, and one's own are not counted."""
        await self.note([await self._reading.get(story_id, viewer=viewer)], viewer)

    async def see_many(self, ids: Iterable[StoryId], viewer: AccountId) -> None:
        """The same for many at once; those that may not be seen are passed over."""
        found = await self._reading.find_many(ids, viewer=viewer)
        await self.note(found.values(), viewer)

    async def note(self, stories: Iterable[Story], viewer: AccountId) -> None:
        """Stories that the viewer may see are seen by them."""
        authors = {
            each.id: each.author_id for each in stories if each.author_id != viewer and not each.is_seen
        }
        if not authors:
            return
        shard = self._shards.owner(viewer)

        async def mark() -> None:
            async with shard.begin() as tx:
                rows = await tx.fetch(QUERIES.mark_seen, viewer_id=viewer, ids=sorted(authors))
                new = [StoryId(row["story_id"]) for row in rows]
                if new:
                    await self._outbox.add(tx, *(StorySeen(each, authors[each], viewer) for each in new))

        await self._days.on_its_day(shard, mark, story_id=min(authors))

    async def count(self, event: StorySeen) -> None:
        """The author's side: one row and one more, while the story's day is kept and its viewer is there."""
        if event.viewer_id not in await self._sight.of(None, [event.viewer_id]):
            return
        async with self._shards.owner(event.story_id).begin() as tx:
            if await tx.fetch_one(QUERIES.lock_story, story_id=event.story_id) is None:
                return
            if await tx.fetch_one(QUERIES.add_view, story_id=event.story_id, viewer_id=event.viewer_id):
                await tx.execute(QUERIES.count_views, story_id=event.story_id, views=1, reactions=0)

    async def viewers(
        self, story_id: StoryId, *, owner: AccountId, before: int = LARGEST_ID, limit: int = 20
    ) -> tuple[int, Page[View]]:
        """How many saw it, and who, newest first, without those between whom and the author there is a block."""
        story = await self._reading.get(story_id, viewer=owner)
        if story.author_id != owner:
            raise StoryNotFound
        shard = self._shards.owner(story_id)
        rows: dict[AccountId, tuple[int, Reaction | None]] = {}

        async def fetch(place: int, count: int) -> list[tuple[AccountId, int]]:
            found = await shard.fetch(QUERIES.page_views, story_id=story_id, before=place, limit=count)
            rows.update({AccountId(row["viewer_id"]): (row["change_id"], row["reaction"]) for row in found})
            return [(AccountId(row["viewer_id"]), row["change_id"]) for row in found]

        async def show(ids: list[AccountId]) -> dict[AccountId, View]:
            seen = await self._sight.of(owner, ids)
            return {each: View(one, *rows[each]) for each, one in seen.items()}

        return story.view_count, await fill_page(fetch, show, before=before, limit=limit)

    async def unsee(self, story_id: StoryId, viewer: AccountId) -> None:
        """Somebody who leaves has not seen it, on the author's side."""
        if not has_shard(self._shards, story_id):
            return
        async with self._shards.owner(story_id).begin() as tx:
            await tx.fetch_one(QUERIES.lock_story, story_id=story_id)
            gone = await tx.fetch_one(QUERIES.drop_view, story_id=story_id, viewer_id=viewer)
            if gone is not None:
                reactions = -1 if gone["reaction"] else 0
                await tx.execute(QUERIES.count_views, story_id=story_id, views=-1, reactions=reactions)
