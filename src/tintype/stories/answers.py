"""Answers to the questions of stories: one per viewer, which may be replaced or withdrawn; the author alone reads them.

An answer is a column of the viewer's view of the story, on the author's shard, and ends with it.
"""

from collections.abc import Iterable

from tintype.base.ids import LARGEST_ID, AccountId, has_shard
from tintype.base.pages import Page, fill_page
from tintype.base.rate_limits import STORY_ANSWER
from tintype.base.text import clean_text
from tintype.stories.dependencies import StoriesDependencies
from tintype.stories.elements import LONGEST_ANSWER, Question, find_element
from tintype.stories.errors import AnswerInvalid, OwnStory, StickerNotFound, StoryNotFound
from tintype.stories.events import StoryAnswered
from tintype.stories.live_stories import LiveStories
from tintype.stories.models import Story, StoryAnswer, StoryId
from tintype.stories.store import QUERIES
from tintype.stories.views import Views


class Answers:
    """What viewers answer to the questions of stories."""

    def __init__(self, deps: StoriesDependencies, live: LiveStories, views: Views) -> None:
        self._shards, self._outbox, self._limiter = deps.shards, deps.outbox, deps.limiter
        self._visibility, self._live, self._views = deps.visibility, live, views

    async def answer(self, story_id: StoryId, by: AccountId, text: str | None) -> None:
        """Set the viewer's answer, replacing an earlier one; None withdraws it."""
        text = None if text is None else clean_text(text)
        if text is not None and not 1 <= len(text) <= LONGEST_ANSWER:
            raise AnswerInvalid
        story = await self._live.get(story_id, viewer=by)
        if story.author_id == by:
            raise OwnStory
        if find_element(story.elements, Question) is None:
            raise StickerNotFound
        await self._limiter.acquire(STORY_ANSWER, by)
        if text is not None:
            # The view first: erasing an account finds its answers by the views recorded on its own shard.
            await self._views.record([story], by)
        await self._set(story, by, text)

    async def page(
        self, story_id: StoryId, *, owner: AccountId, before: int = LARGEST_ID, limit: int = 20
    ) -> Page[StoryAnswer]:
        """Answers to the author's question, without those of anyone blocked on either side."""
        story = await self._live.get(story_id, viewer=owner)
        if story.author_id != owner:
            raise StoryNotFound
        shard = self._shards.owner(story_id)
        rows: dict[AccountId, tuple[int, str]] = {}

        async def fetch(cursor: int, count: int) -> list[tuple[AccountId, int]]:
            found = await shard.fetch(QUERIES.page_answers, story_id=story_id, before=cursor, limit=count)
            rows.update({AccountId(row["viewer_id"]): (row["change_id"], row["answer"]) for row in found})
            return [(AccountId(row["viewer_id"]), row["change_id"]) for row in found]

        async def show(ids: list[AccountId]) -> dict[AccountId, StoryAnswer]:
            visible = await self._visibility.find_accounts(owner, ids)
            return {each: StoryAnswer(one, *rows[each]) for each, one in visible.items()}

        return await fill_page(fetch, show, before=before, limit=limit)

    async def find_many(
        self, stories: Iterable[StoryId], by: Iterable[AccountId]
    ) -> dict[tuple[StoryId, AccountId], str]:
        """The answers of these people to these stories, while the stories' partitions exist."""
        wanted = [each for each in set(stories) if has_shard(self._shards, each)]
        if not wanted:
            return {}
        rows = await self._shards.gather(QUERIES.gather_answers, wanted, viewer_ids=list(set(by)))
        return {(StoryId(row["story_id"]), AccountId(row["viewer_id"])): row["answer"] for row in rows}

    async def _set(self, story: Story, by: AccountId, text: str | None) -> None:
        async with self._shards.owner(story.id).begin() as tx:
            row = await tx.fetch_one(QUERIES.lock_story, story_id=story.id)
            if row is None or row["removed_at"] is not None or not row["is_live"]:
                raise StoryNotFound
            if await tx.fetch_value(QUERIES.find_answer, story_id=story.id, viewer_id=by) == text:
                return
            if await tx.fetch_one(QUERIES.add_view, story_id=story.id, viewer_id=by) is not None:
                await tx.execute(QUERIES.count_views, story_id=story.id, views=1, reactions=0)
            change_id = await tx.fetch_value(QUERIES.set_answer, story_id=story.id, viewer_id=by, answer=text)
            event = StoryAnswered(story.id, story.author_id, by, change_id, is_withdrawn=text is None)
            await self._outbox.add(tx, event)
