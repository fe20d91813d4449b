"""The types of the posts room."""

from datetime import datetime
from typing import Literal

import msgspec

from shardwright.ids import Layout
from tintype.base.ids import AccountId, MediaId, PostId
from tintype.media import Camera, MediaState, MediaType

MAX_CAPTION_LENGTH = 2_200
MAX_ALT_TEXT_LENGTH = 1_000
MAX_PLACE_ID_LENGTH, MAX_PLACE_NAME_LENGTH = 100, 200
MAX_MEDIA = 10
MAX_HASHTAGS, MAX_TAGGED = 30, 20
MAX_PINNED = 3


class Span(msgspec.Struct, frozen=True, omit_defaults=True):
    """A hashtag or mention in a caption. Positions are code points, the end not included."""

    start: int
    end: int
    kind: Literal["hashtag", "mention"]
    tag: str = ""
    """The key of a hashtag, case-folded."""
    account_id: AccountId | None = None
    """Who is mentioned; a username that belongs to nobody makes no span."""


class PersonTag(msgspec.Struct, frozen=True):
    """A person tagged in a photo, at these fractions of its width and height."""

    account_id: AccountId
    x: float
    y: float


class Place(msgspec.Struct, frozen=True):
    """Where a photo was taken."""

    id: str
    name: str
    lat: float | None = None
    lon: float | None = None


class PostMedia(msgspec.Struct, frozen=True):
    """One photo or video of a post."""

    media_id: MediaId
    folder: str
    type: MediaType
    state: MediaState
    width: int
    height: int
    alt_text: str
    placeholder: str | None = None
    duration_ms: int | None = None
    has_hls: bool = False
    large_width: int | None = None
    """The width of the largest rendition there is or may be made; None where `width` is."""
    tagged: tuple[PersonTag, ...] = ()
    camera: Camera | None = None
    """What it was taken with, where the post shows that."""


class Post(msgspec.Struct, frozen=True, kw_only=True):
    """A post. The cached form is the same for everybody; counts and the viewer's like are filled in when it is read."""

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
    shows_camera: bool = False
    posted_at: datetime | None = None
    """Its own time, where that is not the time in its id, as with an imported post."""
    edited_at: datetime | None = None
    is_pinned: bool = False
    is_archived: bool = False
    is_hidden: bool = False
    """Hidden by a moderator."""
    like_count: int | None = 0
    """None where the author hides it and the viewer is not the author."""
    comment_count: int = 0
    viewer_has_liked: bool = False

    def own_time(self, layout: Layout) -> datetime:
        """When it was posted: the time by which walls are ordered and which people are shown."""
        return self.posted_at or layout.id_time(self.id)

    @property
    def is_shown(self) -> bool:
        """Whether others than the author may see it, if they may see the author's posts at all."""
        return not self.is_archived and not self.is_hidden

    @property
    def tagged_ids(self) -> tuple[AccountId, ...]:
        """Everybody tagged in the post, each once."""
        return tuple(dict.fromkeys(each.account_id for item in self.media for each in item.tagged))


class PostCounts(msgspec.Struct, frozen=True):
    """The counts of a post, cached apart from it because they change far more often."""

    like_count: int
    comment_count: int
    like_batch: int
    """The last batch of buffered likes that `like_count` includes."""
    counted_id: int
    """Orders two reads of the counts: the larger id was read later."""


def as_seen(post: Post, like_count: int | None, comment_count: int, *, has_liked: bool) -> Post:
    """A cached post as one viewer sees it: with the counts and the like that are true for them."""
    return msgspec.structs.replace(
        post, like_count=like_count, comment_count=comment_count, viewer_has_liked=has_liked
    )


class ListedPost(msgspec.Struct, frozen=True):
    """A post in a list of one author's posts: as it is to everybody, with what it is to the viewer beside it."""

    cached_post: Post
    """The same object as long as the post has not changed."""
    like_count: int | None
    comment_count: int
    has_liked: bool

    @property
    def id(self) -> PostId:
        """The post's id."""
        return self.cached_post.id

    @property
    def post(self) -> Post:
        """The post as the viewer sees it."""
        return as_seen(self.cached_post, self.like_count, self.comment_count, has_liked=self.has_liked)


class DraftMedia(msgspec.Struct, frozen=True):
    """A photo or video of a draft."""

    media_id: MediaId
    alt_text: str = ""
    tagged: tuple[PersonTag, ...] = ()


class PostDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A post before it is published. Its JSON is hashed for the idempotency key: keep the encoded field names."""

    media: tuple[DraftMedia, ...] = msgspec.field(name="items")
    caption: str = ""
    place: Place | None = None
    comments_enabled: bool = True
    hides_like_count: bool = False
    shows_camera: bool | msgspec.UnsetType = msgspec.UNSET
    """Whether camera, lens and exposure are shown; where it does not say, the account does."""

    @property
    def tagged_ids(self) -> tuple[AccountId, ...]:
        """Everybody tagged in the draft, each once."""
        return tuple(dict.fromkeys(each.account_id for item in self.media for each in item.tagged))


class ImportedPost(msgspec.Struct, frozen=True, kw_only=True):
    """A post that somebody brings from elsewhere."""

    key: str
    """Names the item it was made of, the same whenever it is imported: one post per author and key."""
    posted_at: datetime
    media: tuple[DraftMedia, ...]
    caption: str = ""
    is_archived: bool = False


class PostMediaChanges(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of one photo or video of a post; unset fields stay as they are."""

    media_id: MediaId
    alt_text: str | msgspec.UnsetType = msgspec.UNSET
    tagged: tuple[PersonTag, ...] | msgspec.UnsetType = msgspec.UNSET


class PostChanges(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of a post; unset fields stay as they are."""

    caption: str | msgspec.UnsetType = msgspec.UNSET
    media: tuple[PostMediaChanges, ...] = ()
    place: Place | msgspec.UnsetType | None = msgspec.UNSET
    comments_enabled: bool | msgspec.UnsetType = msgspec.UNSET
    hides_like_count: bool | msgspec.UnsetType = msgspec.UNSET
    shows_camera: bool | msgspec.UnsetType = msgspec.UNSET
