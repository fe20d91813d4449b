"""What a post looks like to the rest of the house."""

import msgspec

from tintype.base.ids import AccountId, MediaId, PostId

LONGEST_CAPTION = 2_200
MOST_MEDIA = 10
LONGEST_ALT_TEXT = 1_000


class PostMedia(msgspec.Struct, frozen=True):
    """One picture of a post."""

    media_id: MediaId
    folder: str
    width: int
    height: int
    alt_text: str


class Post(msgspec.Struct, frozen=True):
    """A post with its pictures, and whether the one who asked has liked it."""

    id: PostId
    author_id: AccountId
    caption: str
    like_count: int
    comment_count: int
    media: list[PostMedia]
    viewer_has_liked: bool
    comments_enabled: bool = True
