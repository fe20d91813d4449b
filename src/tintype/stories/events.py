"""What the stories room announces."""

from tintype.base.events import Event
from tintype.base.ids import AccountId
from tintype.stories.models import StoryId


class StoryPublished(Event, frozen=True):
    """A story is shown, for a day."""

    story_id: StoryId
    author_id: AccountId
    mention_ids: tuple[AccountId, ...] = ()


class StoryRemoved(Event, frozen=True):
    """A story can no longer be seen before its day is over, or can be seen again."""

    story_id: StoryId
    author_id: AccountId
    change_id: int
    mention_ids: tuple[AccountId, ...] = ()
    is_back: bool = False
    """A moderator shows it again."""


class StorySeen(Event, frozen=True):
    """Somebody saw a story for the first time."""

    story_id: StoryId
    author_id: AccountId
    viewer_id: AccountId


class StoryReacted(Event, frozen=True):
    """Somebody chose a reaction to a story, another one, or none any more."""

    story_id: StoryId
    author_id: AccountId
    account_id: AccountId
    change_id: int
    reaction: str | None


class StoryReplied(Event, frozen=True):
    """Somebody answered a story; direct messages carry it on."""

    reply_id: int
    story_id: StoryId
    author_id: AccountId
    account_id: AccountId
    text: str
