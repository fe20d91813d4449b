"""What a post looks like to the rest of the house."""

from datetime import datetime
from typing import Generic, Literal, TypeVar

import msgspec

from tintype.base.ids import AccountId, MediaId, PostId

LONGEST_CAPTION = 2_200
LONGEST_ALT_TEXT = 1_000
LONGEST_PLACE_ID, LONGEST_PLACE_NAME = 100, 200
MOST_MEDIA = 10
MOST_HASHTAGS, MOST_MENTIONS, MOST_TAGGED = 30, 30, 20
MOST_PINNED = 3
T = TypeVar("T")


class Span(msgspec.Struct, frozen=True, omit_defaults=True):
    """A stretch of a caption that means something. Counted in code points, the end not included."""

    start: int
    end: int
    kind: Literal["hashtag", "mention"]
    tag: str = ""
    """The hashtag as it is looked up: case-folded."""
    account_id: AccountId | None = None
    """Who is mentioned; a name that is nobody's makes no span."""


class Tagged(msgspec.Struct, frozen=True):
    """Somebody in a picture, and where: fractions of its width and height."""

    account_id: AccountId
    x: float
    y: float


class Place(msgspec.Struct, frozen=True):
    """Where it was."""

    id: str
    name: str
    lat: float | None = None
    lon: float | None = None


class PostMedia(msgspec.Struct, frozen=True):
    """One picture of a post."""

    media_id: MediaId
    folder: str
    width: int
    height: int
    alt_text: str
    tagged: tuple[Tagged, ...] = ()


class Post(msgspec.Struct, frozen=True, kw_only=True):
    """A post. Cached as it is to everybody; counts and the viewer's part are filled in when it is read."""

    id: PostId
    author_id: AccountId
    caption: str
    media: tuple[PostMedia, ...]
    spans: tuple[Span, ...] = ()
    hashtags: tuple[str, ...] = ()
    mention_ids: tuple[AccountId, ...] = ()
    place: Place | None = None
    comments_enabled: bool = True
    hides_like_count: bool = False
    edited_at: datetime | None = None
    is_pinned: bool = False
    is_archived: bool = False
    is_hidden: bool = False
    """Taken out of sight by a moderator."""
    like_count: int | None = 0
    """None where the author does not show it and somebody else asks."""
    comment_count: int = 0
    viewer_has_liked: bool = False

    @property
    def is_shown(self) -> bool:
        """Whether others than the author may see it, if they may see the author's posts at all."""
        return not self.is_archived and not self.is_hidden

    @property
    def tagged_ids(self) -> tuple[AccountId, ...]:
        """Everybody in the pictures, each once."""
        return tuple(dict.fromkeys(each.account_id for item in self.media for each in item.tagged))


class Counts(msgspec.Struct, frozen=True):
    """The numbers of a post, cached apart from it because they change so much more often."""

    like_count: int
    comment_count: int
    like_batch: int
    """The last batch of buffered likes that `like_count` holds."""
    counted_id: int
    """Of two readings, the one with the larger number was made after more likes."""


class Item(msgspec.Struct, frozen=True):
    """A picture on its way into a post."""

    media_id: MediaId
    alt_text: str = ""
    tagged: tuple[Tagged, ...] = ()


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wants to publish."""

    items: tuple[Item, ...]
    caption: str = ""
    place: Place | None = None
    comments_enabled: bool = True
    hides_like_count: bool = False


class ItemEdit(msgspec.Struct, frozen=True, kw_only=True):
    """What changes about one picture; what is unset stays."""

    media_id: MediaId
    alt_text: str | msgspec.UnsetType = msgspec.UNSET
    tagged: tuple[Tagged, ...] | msgspec.UnsetType = msgspec.UNSET


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """What changes about a post; what is unset stays."""

    caption: str | msgspec.UnsetType = msgspec.UNSET
    items: tuple[ItemEdit, ...] = ()
    place: Place | msgspec.UnsetType | None = msgspec.UNSET
    comments_enabled: bool | msgspec.UnsetType = msgspec.UNSET
    hides_like_count: bool | msgspec.UnsetType = msgspec.UNSET


class Page(msgspec.Struct, Generic[T], frozen=True):
    """A part of a list, and the place its continuation begins at."""

    items: list[T]
    next_before: int | None
