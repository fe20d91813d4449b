"""The listening side of stories: mentions, reactions and replies, and the glance at the story beside a line.

Until direct messages carry replies, they reach the author here; their words stay with the one who said them.
"""

from collections.abc import Sequence

import asyncpg

from tintype.base.ids import AccountId
from tintype.notifications.hearing import Hearing
from tintype.notifications.kinds import KindName
from tintype.notifications.models import Act, StoryGlance
from tintype.stories import (
    ReplyId,
    Stories,
    StoryId,
    StoryPublished,
    StoryReacted,
    StoryRemoved,
    StoryReplied,
)

ABOUT_STORIES = frozenset({"story_reply", "story_reaction", "story_mention"})


class StoryNews:
    """What happens around stories, as acts."""

    def __init__(self, hearing: Hearing, stories: Stories) -> None:
        self._hearing, self._stories = hearing, stories

    async def on_published(self, event: StoryPublished) -> None:
        """Whom it mentions learns of it, if they may see it."""
        for recipient in dict.fromkeys(event.mention_ids):
            await self._mention(recipient, event.story_id, event.author_id, event.story_id)

    async def on_removed(self, event: StoryRemoved) -> None:
        """Whom it mentions is not told of it any more; of one that is shown again they are."""
        for recipient in dict.fromkeys(event.mention_ids):
            if event.is_back:
                await self._mention(recipient, event.story_id, event.author_id, event.change_id)
            else:
                act = _act(recipient, "story_mention", event.author_id, event.story_id, event.change_id)
                await self._hearing.unhear(act)

    async def on_reacted(self, event: StoryReacted) -> None:
        """The author learns how somebody took it, and of another mind."""
        act = _act(event.author_id, "story_reaction", event.account_id, event.story_id, event.change_id)
        await (self._hearing.hear(act) if event.reaction is not None else self._hearing.unhear(act))

    async def on_replied(self, event: StoryReplied) -> None:
        """The author learns what somebody said; each reply is a line of its own."""
        act = _act(event.author_id, "story_reply", event.account_id, event.reply_id, event.reply_id)
        await self._hearing.hear(act)

    async def _mention(
        self, recipient: AccountId, story_id: StoryId, actor: AccountId, change_id: int
    ) -> None:
        if story_id in await self._stories.find_many([story_id], viewer=recipient):
            await self._hearing.hear(_act(recipient, "story_mention", actor, story_id, change_id))


class Glances:
    """What is shown of stories beside the lines that are about them."""

    def __init__(self, stories: Stories) -> None:
        self._stories = stories

    async def of(self, account_id: AccountId, rows: Sequence[asyncpg.Record]) -> dict[int, StoryGlance]:
        """By the line, as its reader may see the story now."""
        about = {row["id"]: row for row in rows if row["kind"] in ABOUT_STORIES and row["object_id"]}
        if not about:
            return {}
        replies = await self._stories.find_replies(
            ReplyId(row["object_id"]) for row in about.values() if row["kind"] == "story_reply"
        )
        story_ids = {
            line: replies[row["object_id"]].story_id
            if row["object_id"] in replies
            else StoryId(row["object_id"])
            for line, row in about.items()
            if row["kind"] != "story_reply" or row["object_id"] in replies
        }
        living = await self._stories.find_many(story_ids.values(), viewer=account_id)
        actors = {
            line: AccountId(about[line]["actor_ids"][0]) for line in story_ids if about[line]["actor_ids"]
        }
        taken = await self._stories.find_reactions(story_ids.values(), actors.values())
        glances: dict[int, StoryGlance] = {}
        for line, story_id in story_ids.items():
            row, story = about[line], living.get(story_id)
            is_reply, is_reaction = row["kind"] == "story_reply", row["kind"] == "story_reaction"
            glances[line] = StoryGlance(
                story_id=story_id,
                folder=story.media.folder if story else None,
                text=replies[row["object_id"]].text if is_reply else None,
                reaction=taken.get((story_id, actors[line])) if is_reaction and line in actors else None,
            )
        return glances


def _act(recipient: AccountId, kind: KindName, actor: AccountId, object_id: int, change_id: int) -> Act:
    return Act(
        recipient_id=recipient,
        kind=kind,
        actor_id=actor,
        change_id=change_id,
        object_id=object_id,
        group_id=object_id,
    )
