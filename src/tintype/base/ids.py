"""Typed ids: all share one 64-bit layout, and pyright tells their kinds apart.

In JSON an id is a string, because JavaScript rounds integers above 2^53.
"""

from typing import Annotated, NewType

import msgspec

from shardwright.routing import Shards

AccountId = NewType("AccountId", int)
PostId = NewType("PostId", int)
MediaId = NewType("MediaId", int)
CommentId = NewType("CommentId", int)
ScheduledPostId = NewType("ScheduledPostId", int)

LARGEST_ID = 2**63 - 1

IdText = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[1-9][0-9]{0,18}$", description="An id, as a string.", examples=["141402734592003"]
    ),
]
"""An id in JSON and in URLs."""


def has_shard(shards: Shards, number: int) -> bool:
    """Whether the shard in this id exists; if not, the id was never assigned."""
    return number > 0 and shards.shard_of(number) in shards.map.owners
