"""Events of the stories room."""

from tintype.base.events import Event
from tintype.base.ids import AccountId
from tintype.stories.models import StoryId


class StoryPublished(Event, frozen=True):
    """A story was published."""

    story_id: StoryId
    author_id: AccountId
    mention_ids: tuple[AccountId, ...] = ()


class StoryRemoved(Event, frozen=True):
    """A story was removed or hidden before it ended, or a moderator restored it."""

    story_id: StoryId
    author_id: AccountId
    change_id: int
    mention_ids: tuple[AccountId, ...] = ()
    is_back: bool = False
    """True when a moderator restored it."""


class StorySeen(Event, frozen=True):
    """Somebody saw a story for the first time."""

    story_id: StoryId
    author_id: AccountId
    viewer_id: AccountId


class StoryReacted(Event, frozen=True):
    """Somebody set, changed or removed their reaction to a story."""

    story_id: StoryId
    author_id: AccountId
    account_id: AccountId
    change_id: int
    reaction: str | None


class StoryAnswered(Event, frozen=True):
    """Somebody answered the question of a story, changed their answer or withdrew it."""

    story_id: StoryId
    author_id: AccountId
    account_id: AccountId
    change_id: int
    is_withdrawn: bool = False


class CountdownEnded(Event, frozen=True):
    """A countdown is over that somebody wanted to be notified of."""

    story_id: StoryId
    author_id: AccountId
    account_id: AccountId


class StoryReplied(Event, frozen=True):
    """Somebody replied to a story."""

    reply_id: int
    story_id: StoryId
    author_id: AccountId
    account_id: AccountId
    text: str
