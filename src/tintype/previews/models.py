"""The types of the previews room."""

import msgspec

from tintype.accounts import Account
from tintype.posts import Post
from tintype.previews.links import Link


class PreviewImage(msgspec.Struct, frozen=True):
    """The picture of a preview: the first of a post, or an avatar."""

    folder: str
    alt: str = ""
    size: tuple[int, int] | None = None
    """Width and height of the picture's largest rendition; None for an avatar, which is shown as a square."""


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What a link tells everybody."""

    link: Link
    """In its canonical form."""
    title: str
    description: str
    image: PreviewImage | None
    author: Account | None = None
    """Of a post, or whose profile it is."""
    post: Post | None = None
