"""The listening side of stories: mentions, reactions and replies, and the glance at the story beside a line.

Until direct messages carry replies, they reach the author here; their words stay with the one who said them.
"""

from collections.abc import Mapping, Sequence

import asyncpg

from tintype.base.ids import AccountId
from tintype.notifications.hearing import Hearing
from tintype.notifications.kinds import KindName
from tintype.notifications.models import Act, StoryGlance
from tintype.stories import (
    Reaction,
    Reply,
    ReplyId,
    Stories,
    Story,
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
        about = [
            row for row in rows if row["kind"] in ABOUT_STORIES and row["object_id"] and row["actor_ids"]
        ]
        if not about:
            return {}
        said = [ReplyId(row["object_id"]) for row in about if row["kind"] == "story_reply"]
        replies = await self._stories.find_replies(said)
        found = {row["id"]: (row, _story_of(row, replies)) for row in about}
        ids = {story_id for _, story_id in found.values() if story_id is not None}
        living = await self._stories.find_many(ids, viewer=account_id)
        taken = await self._stories.find_reactions(ids, (AccountId(row["actor_ids"][0]) for row in about))
        return {
            line: _glance(row, story_id, living, replies, taken)
            for line, (row, story_id) in found.items()
            if story_id is not None
        }


def _story_of(row: asyncpg.Record, replies: Mapping[ReplyId, Reply]) -> StoryId | None:
    """Which story a line is about; a reply that is not there any more does not tell."""
    if row["kind"] != "story_reply":
        return StoryId(row["object_id"])
    reply = replies.get(row["object_id"])
    return reply.story_id if reply else None


def _glance(
    row: asyncpg.Record,
    story_id: StoryId,
    living: Mapping[StoryId, Story],
    replies: Mapping[ReplyId, Reply],
    taken: Mapping[tuple[StoryId, AccountId], Reaction],
) -> StoryGlance:
    story = living.get(story_id)
    reaction = taken.get((story_id, row["actor_ids"][0]))
    return StoryGlance(
        story_id=story_id,
        folder=story.media.folder if story else None,
        text=replies[row["object_id"]].text if row["kind"] == "story_reply" else None,
        reaction=reaction if row["kind"] == "story_reaction" else None,
    )


def _act(recipient: AccountId, kind: KindName, actor: AccountId, object_id: int, change_id: int) -> Act:
    return Act(
        recipient_id=recipient,
        kind=kind,
        actor_id=actor,
        change_id=change_id,
        object_id=object_id,
        group_id=object_id,
    )
