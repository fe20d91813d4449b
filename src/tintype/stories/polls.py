"""Votes in the polls of stories: one choice per viewer, which may be changed while the story is live.

The choice is a column of the viewer's view of the story, on the author's shard. So a vote is erased, and ends, with the
view; the counts change under the lock of the story's row, so that they are exact however many vote at once.
"""

from tintype.base.ids import AccountId
from tintype.base.rate_limits import STORY_VOTE
from tintype.stories.dependencies import StoriesDependencies
from tintype.stories.elements import Poll, find_element
from tintype.stories.errors import ChoiceInvalid, OwnStory, StickerNotFound, StoryNotFound
from tintype.stories.live_stories import LiveStories
from tintype.stories.models import Story, StoryId
from tintype.stories.store import QUERIES, read_elements
from tintype.stories.views import Views


class Polls:
    """How viewers vote in polls."""

    def __init__(self, deps: StoriesDependencies, live: LiveStories, views: Views) -> None:
        self._shards, self._limiter = deps.shards, deps.limiter
        self._live, self._views = live, views

    async def vote(self, story_id: StoryId, by: AccountId, choice: int) -> Story:
        """Take one of the choices; it replaces an earlier one. Returns the story, with the counts after the vote."""
        story = await self._live.get(story_id, viewer=by)
        poll = find_element(story.elements, Poll)
        if story.author_id == by:
            raise OwnStory
        if poll is None:
            raise StickerNotFound
        if not 0 <= choice < len(poll.choices):
            raise ChoiceInvalid
        await self._limiter.acquire(STORY_VOTE, by)
        # The view first: erasing an account finds its votes by the views recorded on its own shard.
        await self._views.record([story], by)
        await self._set(story_id, by, choice)
        return await self._live.get(story_id, viewer=by)

    async def _set(self, story_id: StoryId, by: AccountId, choice: int) -> None:
        async with self._shards.owner(story_id).begin() as tx:
            row = await tx.fetch_one(QUERIES.lock_story, story_id=story_id)
            if row is None or row["removed_at"] is not None or not row["is_live"]:
                raise StoryNotFound
            before = await tx.fetch_value(QUERIES.find_choice, story_id=story_id, viewer_id=by)
            if before == choice:
                return
            if await tx.fetch_one(QUERIES.add_view, story_id=story_id, viewer_id=by) is not None:
                await tx.execute(QUERIES.count_views, story_id=story_id, views=1, reactions=0)
            await tx.execute(QUERIES.set_choice, story_id=story_id, viewer_id=by, choice=choice)
            poll = find_element(read_elements(row), Poll)
            counts = list(row["poll_counts"] or [0] * (len(poll.choices) if poll else 0))
            counts[choice] += 1
            if before is not None:
                counts[before] -= 1
            await tx.execute(QUERIES.set_poll_counts, story_id=story_id, counts=counts)
