"""Reactions: one emoji per viewer and story; the author gets a notification."""

from collections.abc import Iterable
from typing import cast, get_args

from tintype.base.ids import AccountId, has_shard
from tintype.base.rate_limits import STORY_REACTION
from tintype.stories.dependencies import StoriesDependencies
from tintype.stories.errors import OwnStory, ReactionInvalid, StoryNotFound
from tintype.stories.events import StoryReacted
from tintype.stories.live_stories import LiveStories
from tintype.stories.models import Reaction, Story, StoryId
from tintype.stories.store import QUERIES
from tintype.stories.views import Views

REACTIONS = frozenset(get_args(Reaction))


class Reactions:
    """How viewers react to stories."""

    def __init__(self, deps: StoriesDependencies, live: LiveStories, views: Views) -> None:
        self._shards, self._outbox, self._limiter = deps.shards, deps.outbox, deps.limiter
        self._live, self._views = live, views

    async def react(self, story_id: StoryId, by: AccountId, reaction: str | None) -> None:
        """Set the viewer's reaction, replacing an earlier one; None removes it. Whoever reacts has seen the story."""
        if reaction is not None and reaction not in REACTIONS:
            raise ReactionInvalid
        story = await self._live.get(story_id, viewer=by)
        if story.author_id == by:
            raise OwnStory
        await self._limiter.acquire(STORY_REACTION, by)
        if reaction is not None:
            # The view first: erasing an account finds its reactions by the views recorded on its own shard.
            await self._views.record([story], by)
        await self._set(story, by, reaction)

    async def find_many(
        self, stories: Iterable[StoryId], by: Iterable[AccountId]
    ) -> dict[tuple[StoryId, AccountId], Reaction]:
        """The reactions of these people to these stories, while the stories' partitions exist."""
        wanted = [each for each in set(stories) if has_shard(self._shards, each)]
        if not wanted:
            return {}
        rows = await self._shards.gather(QUERIES.find_reactions, wanted, viewer_ids=list(set(by)))
        return {
            (StoryId(row["story_id"]), AccountId(row["viewer_id"])): cast("Reaction", row["reaction"])
            for row in rows
        }

    async def _set(self, story: Story, by: AccountId, reaction: str | None) -> None:
        async with self._shards.owner(story.id).begin() as tx:
            row = await tx.fetch_one(QUERIES.lock_story, story_id=story.id)
            if row is None or row["removed_at"] is not None or not row["is_live"]:
                raise StoryNotFound
            before = await tx.fetch_value(QUERIES.find_view, story_id=story.id, viewer_id=by)
            if before == reaction:
                return
            is_first = await tx.fetch_one(QUERIES.add_view, story_id=story.id, viewer_id=by) is not None
            change_id = await tx.fetch_value(
                QUERIES.set_reaction, story_id=story.id, viewer_id=by, reaction=reaction
            )
            delta = int(reaction is not None) - int(before is not None)
            await tx.execute(QUERIES.count_views, story_id=story.id, views=int(is_first), reactions=delta)
            await self._outbox.add(tx, StoryReacted(story.id, story.author_id, by, change_id, reaction))
