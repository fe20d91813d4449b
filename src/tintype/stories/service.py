"""The stories room as others use it."""

from collections.abc import Iterable, Sequence

from tintype.base.ids import LARGEST_ID, AccountId, MediaId
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.pages import Page
from tintype.base.personal_data import PersonalDataHolder
from tintype.graph import VisibleAccount
from tintype.stories.answers import Answers
from tintype.stories.countdowns import Countdowns
from tintype.stories.dependencies import StoriesDependencies
from tintype.stories.events import StoryPublished, StoryRemoved, StoryReplied, StorySeen
from tintype.stories.highlights import Highlights
from tintype.stories.live_stories import LiveStories
from tintype.stories.models import (
    Highlight,
    HighlightChange,
    HighlightId,
    NewStory,
    Reaction,
    ReplyId,
    Story,
    StoryAnswer,
    StoryId,
    StoryReply,
    StoryViewer,
    Tray,
)
from tintype.stories.moderate import Moderate
from tintype.stories.partitions import Partitions
from tintype.stories.personal_data import StoriesPersonalData
from tintype.stories.polls import Polls
from tintype.stories.publish import Publish
from tintype.stories.reactions import Reactions
from tintype.stories.replies import Replies
from tintype.stories.retention import StoryRetention
from tintype.stories.server_clocks import ServerClocks
from tintype.stories.shared_posts import SharedPosts
from tintype.stories.tray import TrayBuilder
from tintype.stories.views import Views


class Stories:
    """Stories, who saw them, what viewers do with them, and highlights."""

    def __init__(self, deps: StoriesDependencies) -> None:
        self.author_stories, self._ranking = deps.author_stories, deps.ranking
        self.server_clocks = ServerClocks(deps)
        self._partitions = Partitions(deps)
        shared_posts = SharedPosts(deps)
        self._live = LiveStories(deps, shared_posts)
        self._tray = TrayBuilder(deps, self.server_clocks, self._live)
        self._publish = Publish(deps, self._partitions, shared_posts)
        self._views = Views(deps, self._partitions, self._live)
        self._reactions = Reactions(deps, self._live, self._views)
        self._replies = Replies(deps, self._live)
        self._polls = Polls(deps, self._live, self._views)
        self._answers = Answers(deps, self._live, self._views)
        self._countdowns = Countdowns(deps, self._live)
        self._highlights = Highlights(deps, shared_posts)
        self._moderate = Moderate(deps, self._live, self._highlights)
        self._retention = StoryRetention(deps)
        self.personal_data: PersonalDataHolder = StoriesPersonalData(deps, self._views, self._highlights)

    async def publish(self, author_id: AccountId, story: NewStory, *, key: str | None = None) -> StoryId:
        """Publish a story, once however often a request with the same idempotency key is repeated."""
        return await self._publish.publish(author_id, story, key=key)

    async def remove(self, story_id: StoryId, by: AccountId) -> None:
        """The author removes a story for everybody; copies in highlights stay."""
        await self._publish.remove(story_id, by)

    async def get_tray(self, viewer: AccountId) -> Tray:
        """Whose stories the viewer can watch now, in order, and the first of them in full."""
        return await self._tray.build(viewer)

    async def get(self, story_id: StoryId, *, viewer: AccountId | None) -> Story:
        """One live story that the viewer may see."""
        return await self._live.get(story_id, viewer=viewer)

    async def find_many(self, ids: Iterable[StoryId], *, viewer: AccountId | None) -> dict[StoryId, Story]:
        """Those of the stories that are live and that the viewer may see, oldest first."""
        return await self._live.find_many(ids, viewer=viewer)

    async def list_of_account(
        self, author_id: AccountId, *, viewer: AccountId | None
    ) -> tuple[VisibleAccount, list[Story]]:
        """An author, and their live stories that the viewer may see, oldest first."""
        return await self._live.list_of_account(author_id, viewer=viewer)

    async def mark_seen(self, story_id: StoryId, viewer: AccountId) -> None:
        """The viewer has seen the story; seeing it twice counts once."""
        await self._views.mark_seen(story_id, viewer)

    async def mark_many_seen(self, ids: Iterable[StoryId], viewer: AccountId) -> None:
        """The viewer has seen these stories; those that have ended or may not be seen are skipped."""
        await self._views.mark_many_seen(ids, viewer)

    async def list_viewers(
        self, story_id: StoryId, *, owner: AccountId, before: int = LARGEST_ID, limit: int = 20
    ) -> tuple[int, Page[StoryViewer]]:
        """How many people saw the author's story, and who, newest first."""
        return await self._views.list_viewers(story_id, owner=owner, before=before, limit=limit)

    async def react(self, story_id: StoryId, by: AccountId, reaction: str | None) -> None:
        """Set the viewer's reaction, replacing an earlier one; None removes it."""
        await self._reactions.react(story_id, by, reaction)

    async def find_reactions(
        self, stories: Iterable[StoryId], by: Iterable[AccountId]
    ) -> dict[tuple[StoryId, AccountId], Reaction]:
        """The reactions of these people to these stories, while the stories' rows exist."""
        return await self._reactions.find_many(stories, by)

    async def reply(
        self, story_id: StoryId, by: AccountId, text: str, *, key: str | None = None
    ) -> StoryReply:
        """Send the author a reply, once however often a request with the same idempotency key is repeated."""
        return await self._replies.reply(story_id, by, text, key=key)

    async def find_replies(self, ids: Iterable[ReplyId]) -> dict[ReplyId, StoryReply]:
        """Replies by id; whoever calls decides who may read them."""
        return await self._replies.find_many(ids)

    async def vote(self, story_id: StoryId, by: AccountId, choice: int) -> Story:
        """Take one of the choices of the story's poll, replacing an earlier one; returns the story with the counts."""
        return await self._polls.vote(story_id, by, choice)

    async def answer(self, story_id: StoryId, by: AccountId, text: str | None) -> None:
        """Set the viewer's answer to the story's question, replacing an earlier one; None withdraws it."""
        await self._answers.answer(story_id, by, text)

    async def list_answers(
        self, story_id: StoryId, *, owner: AccountId, before: int = LARGEST_ID, limit: int = 20
    ) -> Page[StoryAnswer]:
        """Answers to the question of the author's story."""
        return await self._answers.page(story_id, owner=owner, before=before, limit=limit)

    async def find_answers(
        self, stories: Iterable[StoryId], by: Iterable[AccountId]
    ) -> dict[tuple[StoryId, AccountId], str]:
        """The answers of these people to these stories, while their rows exist; whoever calls decides who reads."""
        return await self._answers.find_many(stories, by)

    async def remind(self, story_id: StoryId, by: AccountId) -> None:
        """Notify the viewer at the end of the story's countdown."""
        await self._countdowns.remind(story_id, by)

    async def forget_reminder(self, story_id: StoryId, by: AccountId) -> None:
        """Do not notify the viewer at the end of the story's countdown."""
        await self._countdowns.forget(story_id, by)

    async def find_countdown_titles(self, ids: Iterable[StoryId]) -> dict[StoryId, str]:
        """The titles of stories' countdowns, also of stories that have ended; whoever calls decides who reads."""
        return await self._countdowns.find_titles(ids)

    async def announce_ended_countdowns(self) -> None:
        """Announce countdowns that are over to those who asked for it."""
        await self._countdowns.announce_ended()

    async def create_highlight(
        self, owner: AccountId, title: str, story_ids: Sequence[StoryId], *, cover: StoryId | None = None
    ) -> HighlightId:
        """Copy live stories into a new highlight, which comes first on the profile."""
        return await self._highlights.create(owner, title, story_ids, cover=cover)

    async def change_highlight(
        self, owner: AccountId, highlight_id: HighlightId, change: HighlightChange
    ) -> None:
        """Change title, cover and order, add stories and remove items, all in one transaction."""
        await self._highlights.change(owner, highlight_id, change)

    async def delete_highlight(self, owner: AccountId, highlight_id: HighlightId) -> None:
        """Delete a highlight, and its media unless a live story or another highlight shows them."""
        await self._highlights.delete(owner, highlight_id)

    async def order_highlights(self, owner: AccountId, ids: Sequence[HighlightId]) -> None:
        """Put these highlights first on the profile, in this order."""
        await self._highlights.order(owner, ids)

    async def get_highlight(self, highlight_id: HighlightId, *, viewer: AccountId | None) -> Highlight:
        """One highlight, with the items the viewer may see."""
        return await self._highlights.get(highlight_id, viewer=viewer)

    async def list_highlights(self, owner: AccountId, *, viewer: AccountId | None) -> list[Highlight]:
        """An account's highlights in the owner's order, with the items the viewer may see."""
        return await self._highlights.list_of_account(owner, viewer=viewer)

    async def inspect(self, story_id: StoryId, *, viewer: AccountId) -> tuple[AccountId, str, str]:
        """For moderators: author, text and media folder of a live story, or of its copy in a highlight."""
        return await self._moderate.inspect(story_id, viewer=viewer)

    async def hide(self, story_id: StoryId) -> None:
        """A moderator hides the story and its copies from everybody but the author."""
        await self._moderate.hide(story_id)

    async def restore(self, story_id: StoryId) -> None:
        """A moderator makes a hidden story and its copies visible again."""
        await self._moderate.restore(story_id)

    async def delete_with_copies(self, story_id: StoryId) -> None:
        """A moderator deletes the story, its copies in highlights, and its media."""
        await self._moderate.delete_with_copies(story_id)

    async def on_media_changed(self, media_ids: Sequence[MediaId]) -> None:
        """Listener of the media room: invalidate the cached stories of the authors who show these media."""
        await self._publish.on_media_changed(media_ids)

    async def rotate_partitions(self) -> None:
        """Create the partitions of the coming days and drop those whose stories have all ended."""
        await self._partitions.rotate()

    async def sweep(self) -> None:
        """Delete the media of ended stories, and old replies."""
        await self._retention.sweep()

    async def close(self) -> None:
        """Wait for cache fills that are still under way."""
        await self.author_stories.flush()

    def handlers(self) -> list[Handler]:
        """Reactions to this room's own events."""
        return [
            on(StorySeen, self._views.on_seen, name="stories-views"),
            on(StorySeen, self._record_view, name="stories-learn-view"),
            on(StoryReplied, self._record_reply, name="stories-learn-reply"),
            on(StoryPublished, self._publish.on_changed, name="stories-ring-published"),
            on(StoryRemoved, self._publish.on_changed, name="stories-ring-removed"),
        ]

    def schedules(self) -> list[Schedule]:
        """Work that this room repeats: partition rotation, the sweep, and ended countdowns."""
        return [
            *self._partitions.schedules(),
            *self._retention.schedules(),
            *self._countdowns.schedules(),
        ]

    async def _record_view(self, event: StorySeen) -> None:
        """Watching somebody's stories raises the viewer's affinity to them."""
        await self._ranking.record_story_view(event.viewer_id, event.author_id, event.story_id)

    async def _record_reply(self, event: StoryReplied) -> None:
        """Replying to somebody raises the affinity too."""
        await self._ranking.record_message(event.account_id, event.author_id, event.reply_id)
