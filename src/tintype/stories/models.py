"""What stories look like to the rest of the house."""

from typing import Literal, NewType

import msgspec

from tintype.accounts import Account
from tintype.base.ids import AccountId, MediaId
from tintype.graph import Seen
from tintype.posts import PostMedia

StoryId = NewType("StoryId", int)
ReplyId = NewType("ReplyId", int)
HighlightId = NewType("HighlightId", int)
ItemId = NewType("ItemId", int)
Audience = Literal["everyone", "close_friends"]
Reaction = Literal["❤️", "🔥", "😂", "😮", "😢", "👏", "🎉", "💯"]

LONGEST_TEXT, LONGEST_ALT_TEXT, LONGEST_REPLY, LONGEST_TITLE = 500, 1_000, 1_000, 30
MOST_MENTIONS = 20
MOST_HIGHLIGHTS = MOST_ITEMS = 100


class Mention(msgspec.Struct, frozen=True):
    """Somebody in a story, and where: fractions of its width and height."""

    account_id: AccountId
    x: float
    y: float


class NewStory(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wants to show."""

    media_id: MediaId
    audience: Audience = "everyone"
    text: str = ""
    alt_text: str = ""
    mentions: tuple[Mention, ...] = ()
    replies_enabled: bool = True


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """A living story as one viewer sees it."""

    id: StoryId
    author: Seen
    media: PostMedia
    audience: Audience
    text: str
    mentions: tuple[Mention, ...]
    people: dict[AccountId, Account]
    """Those mentioned whom the viewer may know of."""
    replies_enabled: bool
    ttl_s: float
    """How long it lives on, by the clock of the server that keeps it."""
    is_seen: bool
    is_hidden: bool
    reaction: Reaction | None
    view_count: int
    reaction_count: int

    @property
    def author_id(self) -> AccountId:
        """Whose it is."""
        return self.author.account.id


class Ring(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody in the tray: which of their living stories the viewer may see, oldest first, and has not seen."""

    author: Seen
    story_ids: tuple[StoryId, ...]
    unseen_ids: frozenset[StoryId]
    is_close_friends: bool


class Tray(msgspec.Struct, frozen=True):
    """The tray: rings in order, and the stories of the first of them whole."""

    rings: list[Ring]
    stories: dict[AccountId, list[Story]]


class View(msgspec.Struct, frozen=True):
    """Somebody who saw a story; `change_id` holds when."""

    viewer: Seen
    change_id: int
    reaction: Reaction | None


class Reply(msgspec.Struct, frozen=True):
    """What somebody answered to a story."""

    id: ReplyId
    account_id: AccountId
    story_id: StoryId
    text: str


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A copy of a story in a highlight."""

    id: ItemId
    story_id: StoryId
    media: PostMedia
    audience: Audience
    text: str
    mentions: tuple[Mention, ...]


class Highlight(msgspec.Struct, frozen=True, kw_only=True):
    """Copies of stories under a title, as one viewer may see them."""

    id: HighlightId
    owner: Seen
    title: str
    cover_item_id: ItemId | None
    items: tuple[Item, ...]
    people: dict[AccountId, Account]

    @property
    def cover(self) -> Item | None:
        """The item that was chosen, or else the first."""
        chosen = [item for item in self.items if item.id == self.cover_item_id]
        return next(iter([*chosen, *self.items]), None)


class HighlightChange(msgspec.Struct, frozen=True, kw_only=True):
    """What changes about a highlight; what is None or empty stays."""

    title: str | None = None
    add_story_ids: tuple[StoryId, ...] = ()
    remove_item_ids: tuple[ItemId, ...] = ()
    cover_item_id: ItemId | None = None
    item_ids: tuple[ItemId, ...] = ()
    """All items in their new order."""
