"""Previews of the stories that notifications are about."""

from collections.abc import Iterable, Mapping

from tintype.base.ids import AccountId
from tintype.notifications.models import LatestActivity, StoryPreview
from tintype.stories import Reaction, ReplyId, Stories, Story, StoryId, StoryReply

ABOUT_STORIES = frozenset(
    {"story_reply", "story_reaction", "story_mention", "story_answer", "story_countdown"}
)


class StoryPreviews:
    """Loads, for a page of notifications, what is shown of the stories they are about."""

    def __init__(self, stories: Stories) -> None:
        self._stories = stories

    async def find(
        self, account_id: AccountId, latest: Mapping[int, LatestActivity]
    ) -> dict[int, StoryPreview]:
        """By notification id, the story of its latest activity as the list's owner may see it now."""
        about = {key: each for key, each in latest.items() if each.kind in ABOUT_STORIES and each.object_id}
        if not about:
            return {}
        reply_ids = [ReplyId(each.object_id) for each in about.values() if each.kind == "story_reply"]
        replies = await self._stories.find_replies(reply_ids)
        found = {key: (each, _story_of(each, replies)) for key, each in about.items()}
        ids = {story_id for _, story_id in found.values() if story_id is not None}
        live = await self._stories.find_many(ids, viewer=account_id)
        reactions = await self._stories.find_reactions(ids, (each.actor_id for each in about.values()))
        texts = await self._find_texts(found.values(), replies)
        return {
            notification_id: _preview(activity, story_id, live, texts, reactions)
            for notification_id, (activity, story_id) in found.items()
            if story_id is not None
        }

    async def _find_texts(
        self,
        about: Iterable[tuple[LatestActivity, StoryId | None]],
        replies: Mapping[ReplyId, StoryReply],
    ) -> dict[LatestActivity, str]:
        """What was replied or answered, and the titles of countdowns, by the activity that is about it."""
        known = [(activity, story_id) for activity, story_id in about if story_id is not None]
        answered = [each for each in known if each[0].kind == "story_answer"]
        answers = await self._stories.find_answers(
            {story_id for _, story_id in answered}, {activity.actor_id for activity, _ in answered}
        )
        titles = await self._stories.find_countdown_titles(
            story_id for activity, story_id in known if activity.kind == "story_countdown"
        )
        texts: dict[LatestActivity, str | None] = {}
        for activity, story_id in known:
            if activity.kind == "story_reply":
                texts[activity] = replies[ReplyId(activity.object_id)].text
            elif activity.kind == "story_answer":
                texts[activity] = answers.get((story_id, activity.actor_id))
            elif activity.kind == "story_countdown":
                texts[activity] = titles.get(story_id)
        return {activity: text for activity, text in texts.items() if text is not None}


def _story_of(activity: LatestActivity, replies: Mapping[ReplyId, StoryReply]) -> StoryId | None:
    """The story that an activity is about; unknown when that was a reply which no longer exists."""
    if activity.kind != "story_reply":
        return StoryId(activity.object_id)
    reply = replies.get(ReplyId(activity.object_id))
    return reply.story_id if reply else None


def _preview(
    activity: LatestActivity,
    story_id: StoryId,
    live: Mapping[StoryId, Story],
    texts: Mapping[LatestActivity, str],
    reactions: Mapping[tuple[StoryId, AccountId], Reaction],
) -> StoryPreview:
    story = live.get(story_id)
    reaction = reactions.get((story_id, activity.actor_id))
    return StoryPreview(
        story_id=story_id,
        folder=story.media.folder if story else None,
        is_hidden=story.is_hidden if story else False,
        text=texts.get(activity),
        reaction=reaction if activity.kind == "story_reaction" else None,
    )
