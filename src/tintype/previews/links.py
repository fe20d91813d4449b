"""Links: what the path of a page of the app points to."""

from urllib.parse import quote

import msgspec

from shardwright.ids import encode_short
from tintype.base.ids import PostId


class PostLink(msgspec.Struct, frozen=True):
    """A post."""

    post_id: PostId

    @property
    def path(self) -> str:
        """The canonical path, with the short code."""
        return f"/p/{encode_short(self.post_id)}"


class ProfileLink(msgspec.Struct, frozen=True):
    """Somebody's profile."""

    username: str

    @property
    def path(self) -> str:
        """The canonical path."""
        return f"/@{self.username.lower()}"


class TagLink(msgspec.Struct, frozen=True):
    """The posts of a hashtag."""

    tag: str

    @property
    def path(self) -> str:
        """The canonical path."""
        return f"/tags/{quote(self.tag, safe='')}"


class PlaceLink(msgspec.Struct, frozen=True):
    """The posts of a place."""

    place_id: str

    @property
    def path(self) -> str:
        """The canonical path."""
        return f"/places/{quote(self.place_id, safe='')}"


Link = PostLink | ProfileLink | TagLink | PlaceLink
