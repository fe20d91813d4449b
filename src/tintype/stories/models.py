"""The types that the stories room shows to other rooms."""

from datetime import timedelta
from typing import Literal, NewType

import msgspec

from tintype.accounts import Account
from tintype.base.ids import AccountId, MediaId, PostId
from tintype.graph import VisibleAccount
from tintype.posts import Post, PostMedia
from tintype.stories.elements import Element

StoryId = NewType("StoryId", int)
ReplyId = NewType("ReplyId", int)
HighlightId = NewType("HighlightId", int)
HighlightItemId = NewType("HighlightItemId", int)
StoryAudience = Literal["everyone", "close_friends"]
Reaction = Literal["❤️", "🔥", "😂", "😮", "😢", "👏", "🎉", "💯"]

LIFETIME = timedelta(hours=24)
"""How long a story is shown; `stories_begin()` in SQL says the same."""
LONGEST_TEXT, LONGEST_ALT_TEXT, LONGEST_REPLY, LONGEST_TITLE = 500, 1_000, 1_000, 30
MAX_MENTIONS = 20
MAX_HIGHLIGHTS = MAX_ITEMS = 100


class Mention(msgspec.Struct, frozen=True):
    """An account mentioned in a story, and where: fractions of the picture's width and height."""

    account_id: AccountId
    x: float
    y: float


class NewStory(msgspec.Struct, frozen=True, kw_only=True):
    """A story to be published."""

    media_id: MediaId
    audience: StoryAudience = "everyone"
    text: str = ""
    alt_text: str = ""
    mentions: tuple[Mention, ...] = ()
    replies_enabled: bool = True
    elements: tuple[Element, ...] = ()


class SharedPost(msgspec.Struct, frozen=True):
    """A post that a story shows as a card, and its author."""

    post: Post
    author: Account


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """A live story as one viewer sees it."""

    id: StoryId
    author: VisibleAccount
    media: PostMedia
    audience: StoryAudience
    text: str
    mentions: tuple[Mention, ...]
    people: dict[AccountId, Account]
    """Those of the accounts mentioned that the viewer may see."""
    elements: tuple[Element, ...] = ()
    posts: dict[PostId, SharedPost] = msgspec.field(default_factory=dict[PostId, SharedPost])
    """Those of the posts shared in it that the viewer may see."""
    poll_counts: tuple[int, ...] | None = None
    """How many took each choice of its poll; None as long as the viewer has not, unless the viewer is the author."""
    choice: int | None = None
    """The viewer's own choice."""
    answer: str | None = None
    """The viewer's own answer to its question."""
    is_reminded: bool = False
    """Whether the viewer is notified at the end of its countdown."""
    replies_enabled: bool
    ttl_s: float
    """Seconds until it ends, by the clock of the server that stores it."""
    is_seen: bool
    is_hidden: bool
    reaction: Reaction | None
    view_count: int
    reaction_count: int

    @property
    def author_id(self) -> AccountId:
        """The author's account id."""
        return self.author.account.id


class Ring(msgspec.Struct, frozen=True, kw_only=True):
    """One author in the tray: their live stories that the viewer may see, oldest first, and those not seen yet."""

    author: VisibleAccount
    story_ids: tuple[StoryId, ...]
    unseen_ids: frozenset[StoryId]
    is_close_friends: bool


class Tray(msgspec.Struct, frozen=True):
    """The stories tray: one ring per author, in order, and the full stories of the first few."""

    rings: list[Ring]
    stories: dict[AccountId, list[Story]]


class StoryViewer(msgspec.Struct, frozen=True):
    """Somebody who saw a story; the time is in `change_id`."""

    viewer: VisibleAccount
    change_id: int
    reaction: Reaction | None
    choice: int | None = None


class StoryAnswer(msgspec.Struct, frozen=True):
    """An answer to a story's question, for its author."""

    viewer: VisibleAccount
    change_id: int
    text: str


class StoryReply(msgspec.Struct, frozen=True):
    """A reply to a story, for its author."""

    id: ReplyId
    account_id: AccountId
    story_id: StoryId
    text: str


class HighlightItem(msgspec.Struct, frozen=True, kw_only=True):
    """A copy of a story in a highlight."""

    id: HighlightItemId
    story_id: StoryId
    media: PostMedia
    audience: StoryAudience
    text: str
    mentions: tuple[Mention, ...]
    is_hidden: bool = False
    """Hidden by a moderator: only its owner gets to see it."""
    elements: tuple[Element, ...] = ()
    poll_counts: tuple[int, ...] | None = None


class Highlight(msgspec.Struct, frozen=True, kw_only=True):
    """Copies of stories under a title, as one viewer may see them."""

    id: HighlightId
    owner: VisibleAccount
    title: str
    cover_item_id: HighlightItemId | None
    items: tuple[HighlightItem, ...]
    people: dict[AccountId, Account]
    posts: dict[PostId, SharedPost] = msgspec.field(default_factory=dict[PostId, SharedPost])

    @property
    def cover(self) -> HighlightItem | None:
        """The item chosen as cover, or else the first; None when the viewer may see no item."""
        chosen = [item for item in self.items if item.id == self.cover_item_id]
        return next(iter([*chosen, *self.items]), None)


class HighlightChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change to a highlight; fields that are None or empty stay as they are."""

    title: str | None = None
    add_story_ids: tuple[StoryId, ...] = ()
    remove_item_ids: tuple[HighlightItemId, ...] = ()
    cover_item_id: HighlightItemId | None = None
    item_ids: tuple[HighlightItemId, ...] = ()
    """All items in their new order."""
