"""Who has seen which story: recorded at once on the viewer's shard, and through the outbox on the author's."""

from collections.abc import Iterable

from tintype.base.ids import LARGEST_ID, AccountId, has_shard
from tintype.base.pages import Page, fill_page
from tintype.stories.dependencies import StoriesDependencies
from tintype.stories.errors import StoryNotFound
from tintype.stories.events import StorySeen
from tintype.stories.live_stories import LiveStories
from tintype.stories.models import Reaction, Story, StoryId, StoryViewer
from tintype.stories.partitions import Partitions
from tintype.stories.store import QUERIES


class Views:
    """Views of stories, on both sides."""

    def __init__(self, deps: StoriesDependencies, partitions: Partitions, live: LiveStories) -> None:
        self._shards, self._outbox, self._visibility = deps.shards, deps.outbox, deps.visibility
        self._partitions, self._live = partitions, live

    async def mark_seen(self, story_id: StoryId, viewer: AccountId) -> None:
        """The viewer has seen the story; seeing it twice counts once, and one's own stories don't count."""
        await self.record([await self._live.get(story_id, viewer=viewer)], viewer)

    async def mark_many_seen(self, ids: Iterable[StoryId], viewer: AccountId) -> None:
        """The viewer has seen these stories; those that have ended or may not be seen are skipped."""
        found = await self._live.find_many(ids, viewer=viewer)
        await self.record(found.values(), viewer)

    async def record(self, stories: Iterable[Story], viewer: AccountId) -> None:
        """Record views of stories that were read as this viewer, and announce the new ones to their authors."""
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

        await self._partitions.retry_with_partition(shard, mark, story_id=min(authors))

    async def on_seen(self, event: StorySeen) -> None:
        """Count the view on the author's shard, while the story's partition and the viewer's account exist."""
        if event.viewer_id not in await self._visibility.find_accounts(None, [event.viewer_id]):
            return
        async with self._shards.owner(event.story_id).begin() as tx:
            if await tx.fetch_one(QUERIES.lock_story, story_id=event.story_id) is None:
                return
            if await tx.fetch_one(QUERIES.add_view, story_id=event.story_id, viewer_id=event.viewer_id):
                await tx.execute(QUERIES.count_views, story_id=event.story_id, views=1, reactions=0)

    async def list_viewers(
        self, story_id: StoryId, *, owner: AccountId, before: int = LARGEST_ID, limit: int = 20
    ) -> tuple[int, Page[StoryViewer]]:
        """How many people saw the author's story, and who, newest first, without anyone blocked on either side."""
        story = await self._live.get(story_id, viewer=owner)
        if story.author_id != owner:
            raise StoryNotFound
        shard = self._shards.owner(story_id)
        rows: dict[AccountId, tuple[int, Reaction | None, int | None]] = {}

        async def fetch(cursor: int, count: int) -> list[tuple[AccountId, int]]:
            found = await shard.fetch(QUERIES.page_views, story_id=story_id, before=cursor, limit=count)
            rows.update(
                {
                    AccountId(row["viewer_id"]): (row["change_id"], row["reaction"], row["choice"])
                    for row in found
                }
            )
            return [(AccountId(row["viewer_id"]), row["change_id"]) for row in found]

        async def show(ids: list[AccountId]) -> dict[AccountId, StoryViewer]:
            visible = await self._visibility.find_accounts(owner, ids)
            return {each: StoryViewer(one, *rows[each]) for each, one in visible.items()}

        return story.view_count, await fill_page(fetch, show, before=before, limit=limit)

    async def erase(self, story_id: StoryId, viewer: AccountId) -> None:
        """Delete what a deleted account did with a story from the author's shard, and correct the counts."""
        if not has_shard(self._shards, story_id):
            return
        async with self._shards.owner(story_id).begin() as tx:
            story = await tx.fetch_one(QUERIES.lock_story, story_id=story_id)
            deleted = await tx.fetch_one(QUERIES.delete_view, story_id=story_id, viewer_id=viewer)
            if deleted is not None:
                reactions = -1 if deleted["reaction"] else 0
                await tx.execute(QUERIES.count_views, story_id=story_id, views=-1, reactions=reactions)
                if deleted["choice"] is not None and story is not None and story["poll_counts"]:
                    counts = list(story["poll_counts"])
                    counts[deleted["choice"]] -= 1
                    await tx.execute(QUERIES.set_poll_counts, story_id=story_id, counts=counts)
