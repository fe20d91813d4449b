"""What ranking tells others."""

import msgspec

from tintype.base.ids import AccountId, PostId


class Ranked(msgspec.Struct, frozen=True):
    """A post and what it is worth to the viewer: more comes first."""

    post_id: PostId
    score: float
    author_id: AccountId | None = None
    """Known when the features of the post are."""
