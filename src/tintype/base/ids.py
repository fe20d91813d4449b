"""Typed ids: one 64-bit layout, many meanings, and pyright tells them apart.

In JSON an id is a string, because JavaScript rounds integers above 2^53.
"""

from typing import Annotated, NewType

import msgspec

from shardwright.running import Shards

AccountId = NewType("AccountId", int)
PostId = NewType("PostId", int)
MediaId = NewType("MediaId", int)
CommentId = NewType("CommentId", int)

LARGEST_ID = 2**63 - 1

IdText = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[1-9][0-9]{0,18}$", description="An id, as a string.", examples=["141402734592003"]
    ),
]
"""How an id travels in JSON and in addresses."""


def has_shard(shards: Shards, number: int) -> bool:
    """Whether an id names a shard that exists; one that does not is an id that was never made."""
    return number > 0 and shards.shard_of(number) in shards.map.owners
