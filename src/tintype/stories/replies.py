"""Replies to stories: stored with whoever wrote them; the author gets a notification, and later a direct message."""

from collections.abc import Iterable

from tintype.base.ids import AccountId, has_shard
from tintype.base.rate_limits import STORY_REPLY
from tintype.base.text import clean_text
from tintype.stories.dependencies import StoriesDependencies
from tintype.stories.errors import OwnStory, RepliesOff, ReplyInvalid, StoryKeyReused
from tintype.stories.events import StoryReplied
from tintype.stories.live_stories import LiveStories
from tintype.stories.models import LONGEST_REPLY, ReplyId, Story, StoryId, StoryReply
from tintype.stories.store import QUERIES


class Replies:
    """What viewers write to the authors of stories."""

    def __init__(self, deps: StoriesDependencies, live: LiveStories) -> None:
        self._shards, self._outbox, self._limiter = deps.shards, deps.outbox, deps.limiter
        self._live = live

    async def reply(
        self, story_id: StoryId, by: AccountId, text: str, *, key: str | None = None
    ) -> StoryReply:
        """Send the author a reply, once however often a request with the same idempotency key is repeated."""
        text = clean_text(text)
        if not 1 <= len(text) <= LONGEST_REPLY:
            raise ReplyInvalid
        story = await self._live.get(story_id, viewer=by)
        if story.author_id == by:
            raise OwnStory
        if not story.replies_enabled:
            raise RepliesOff
        await self._limiter.acquire(STORY_REPLY, by)
        return await self._add(story, by, text, key)

    async def find_many(self, ids: Iterable[ReplyId]) -> dict[ReplyId, StoryReply]:
        """Replies by id; whoever calls decides who may read them."""
        wanted = [each for each in set(ids) if has_shard(self._shards, each)]
        rows = (await self._shards.gather(QUERIES.gather_replies, wanted)).rows if wanted else []
        return {ReplyId(row["id"]): StoryReply(**row) for row in rows}

    async def _add(self, story: Story, by: AccountId, text: str, key: str | None) -> StoryReply:
        async with self._shards.owner(by).begin() as tx:
            await tx.fetch_one(QUERIES.lock_author, author_id=by)
            if key is not None:
                row = await tx.fetch_one(QUERIES.find_reply_by_key, account_id=by, idempotency_key=key)
                if row is not None and (row["story_id"], row["text"]) != (story.id, text):
                    raise StoryKeyReused
                if row is not None:
                    return StoryReply(ReplyId(row["id"]), by, story.id, text)
            reply_id = await tx.fetch_value(
                QUERIES.add_reply, account_id=by, story_id=story.id, text=text, idempotency_key=key
            )
            await self._outbox.add(tx, StoryReplied(reply_id, story.id, story.author_id, by, text))
        return StoryReply(ReplyId(reply_id), by, story.id, text)
