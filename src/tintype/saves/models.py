"""The types of the saves room."""

from typing import NewType

import msgspec

from tintype.base.ids import PostId

CollectionId = NewType("CollectionId", int)
MAX_COLLECTIONS = 200
MAX_NAME_LENGTH = 50


class Collection(msgspec.Struct, frozen=True):
    """A named collection of saved posts; only its owner ever sees it."""

    id: CollectionId
    name: str
    post_count: int
    cover_post_id: PostId | None
