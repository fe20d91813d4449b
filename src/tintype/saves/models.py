"""What a collection looks like to its owner; nobody else ever sees one."""

from typing import NewType

import msgspec

from tintype.base.ids import PostId

CollectionId = NewType("CollectionId", int)
MOST_COLLECTIONS = 200
LONGEST_NAME = 50


class Collection(msgspec.Struct, frozen=True):
    """Posts kept under a name."""

    id: CollectionId
    name: str
    post_count: int
    cover_post_id: PostId | None
