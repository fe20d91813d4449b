"""Reactions and replies: they reach the author as notifications, and direct messages will carry them."""

from collections.abc import Iterable
from typing import cast, get_args

from tintype.base.ids import AccountId, has_shard
from tintype.base.limits import Rule
from tintype.posts import clean
from tintype.stories.errors import (
    OwnStory,
    ReactionInvalid,
    RepliesOff,
    ReplyInvalid,
    StoryKeyReused,
    StoryNotFound,
)
from tintype.stories.events import StoryReacted, StoryReplied
from tintype.stories.models import LONGEST_REPLY, Reaction, Reply, ReplyId, Story, StoryId
from tintype.stories.reading import Reading
from tintype.stories.seeing import Seeing
from tintype.stories.store import QUERIES, AtDesk, Desk

REACTIONS = frozenset(get_args(Reaction))
REACTING, REPLYING = Rule("story-reactions", 120, 600), Rule("story-replies", 60, 600)


class Answering(AtDesk):
    """What viewers say to stories."""

    def __init__(self, desk: Desk, reading: Reading, seeing: Seeing) -> None:
        super().__init__(desk)
        self._reading, self._seeing = reading, seeing

    async def react(self, story_id: StoryId, by: AccountId, reaction: str | None) -> None:
        """The last reaction counts; None takes it back. Who reacts has seen it."""
        if reaction is not None and reaction not in REACTIONS:
            raise ReactionInvalid
        story = await self._of_another(story_id, by)
        await self._desk.limiter.take(REACTING, by)
        if reaction is not None:
            # First with the viewer: what somebody leaves with others is found by what they have seen.
            await self._seeing.note([story], by)
        await self._set(story, by, reaction)

    async def reply(self, story_id: StoryId, by: AccountId, text: str, *, key: str | None = None) -> Reply:
        """Say something to the author, once however often a request with the same key is repeated."""
        text = clean(text)
        if not 1 <= len(text) <= LONGEST_REPLY:
            raise ReplyInvalid
        story = await self._of_another(story_id, by)
        if not story.replies_enabled:
            raise RepliesOff
        await self._desk.limiter.take(REPLYING, by)
        async with self._shards.owner(by).begin() as tx:
            await tx.fetch_one(QUERIES.lock_author, author_id=by)
            if key is not None:
                row = await tx.fetch_one(QUERIES.find_reply_by_key, account_id=by, idempotency_key=key)
                if row is not None and (row["story_id"], row["text"]) != (story_id, text):
                    raise StoryKeyReused
                if row is not None:
                    return Reply(ReplyId(row["id"]), by, story_id, text)
            made = await tx.fetch_value(
                QUERIES.add_reply, account_id=by, story_id=story_id, text=text, idempotency_key=key
            )
            await self._outbox.add(tx, StoryReplied(made, story_id, story.author_id, by, text))
        return Reply(ReplyId(made), by, story_id, text)

    async def find_replies(self, ids: Iterable[ReplyId]) -> dict[ReplyId, Reply]:
        """Replies by id, for those they were said to."""
        wanted = [each for each in set(ids) if has_shard(self._shards, each)]
        rows = (await self._shards.gather(QUERIES.gather_replies, wanted)).rows if wanted else []
        return {ReplyId(row["id"]): Reply(**row) for row in rows}

    async def find_reactions(
        self, stories: Iterable[StoryId], by: Iterable[AccountId]
    ) -> dict[tuple[StoryId, AccountId], Reaction]:
        """How some people took some stories, while their days are kept."""
        wanted = [each for each in set(stories) if has_shard(self._shards, each)]
        if not wanted:
            return {}
        rows = await self._shards.gather(QUERIES.find_reactions, wanted, viewer_ids=list(set(by)))
        return {
            (StoryId(row["story_id"]), AccountId(row["viewer_id"])): cast("Reaction", row["reaction"])
            for row in rows
        }

    async def _of_another(self, story_id: StoryId, by: AccountId) -> Story:
        story = await self._reading.get(story_id, viewer=by)
        if story.author_id == by:
            raise OwnStory
        return story

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
