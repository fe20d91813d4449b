"""Previews of the stories that notifications are about."""

from collections.abc import Mapping, Sequence

import asyncpg

from tintype.base.ids import AccountId
from tintype.notifications.models import StoryPreview
from tintype.stories import Reaction, ReplyId, Stories, Story, StoryId, StoryReply

ABOUT_STORIES = frozenset({"story_reply", "story_reaction", "story_mention"})


class StoryPreviews:
    """Loads, for a page of notifications, what is shown of the stories they are about."""

    def __init__(self, stories: Stories) -> None:
        self._stories = stories

    async def find(self, account_id: AccountId, rows: Sequence[asyncpg.Record]) -> dict[int, StoryPreview]:
        """By notification id, the story as the list's owner may see it now."""
        about = [
            row for row in rows if row["kind"] in ABOUT_STORIES and row["object_id"] and row["actor_ids"]
        ]
        if not about:
            return {}
        reply_ids = [ReplyId(row["object_id"]) for row in about if row["kind"] == "story_reply"]
        replies = await self._stories.find_replies(reply_ids)
        found = {row["id"]: (row, _story_of(row, replies)) for row in about}
        ids = {story_id for _, story_id in found.values() if story_id is not None}
        live = await self._stories.find_many(ids, viewer=account_id)
        actors = (AccountId(row["actor_ids"][0]) for row in about)
        reactions = await self._stories.find_reactions(ids, actors)
        return {
            notification_id: _preview(row, story_id, live, replies, reactions)
            for notification_id, (row, story_id) in found.items()
            if story_id is not None
        }


def _story_of(row: asyncpg.Record, replies: Mapping[ReplyId, StoryReply]) -> StoryId | None:
    """The story that a notification is about; unknown when that was a reply which no longer exists."""
    if row["kind"] != "story_reply":
        return StoryId(row["object_id"])
    reply = replies.get(row["object_id"])
    return reply.story_id if reply else None


def _preview(
    row: asyncpg.Record,
    story_id: StoryId,
    live: Mapping[StoryId, Story],
    replies: Mapping[ReplyId, StoryReply],
    reactions: Mapping[tuple[StoryId, AccountId], Reaction],
) -> StoryPreview:
    story = live.get(story_id)
    reaction = reactions.get((story_id, row["actor_ids"][0]))
    return StoryPreview(
        story_id=story_id,
        folder=story.media.folder if story else None,
        is_hidden=story.is_hidden if story else False,
        text=replies[row["object_id"]].text if row["kind"] == "story_reply" else None,
        reaction=reaction if row["kind"] == "story_reaction" else None,
    )
