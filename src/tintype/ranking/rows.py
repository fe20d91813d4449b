"""The fixed layouts in which features lie in Redis: reading one is a cast, not a parse.

Everything that fades is a value and the second at which it was that much. Little-endian throughout.
"""

import hashlib
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_TAGS = 4
"""Hashtags of a post that count."""
MOST_AUTHORS, MOST_INTERESTS, MOST_SEEN = 256, 128, 1_500
"""Of a viewer: the weakest, and what was seen longest ago, make room."""
VIDEO, ALBUM = 1, 2

Rows = NDArray[Any]
"""Records of one of the layouts below."""
Floats = NDArray[np.float32]

FACTS = np.dtype([("author", "<u8"), ("cadence", "<f4"), ("flags", "<u4"), ("tags", "<u4", (MOST_TAGS,))])
POST = np.dtype([("value", "<f4"), ("at", "<u4"), *((name, FACTS[name]) for name in FACTS.names or ())])
"""A post: how much is going on around it, then its facts, which begin at `FACTS_AT`."""
FACTS_AT = POST.itemsize - FACTS.itemsize
AFFINITY = np.dtype([("key", "<u8"), ("value", "<f4"), ("at", "<u4")])
INTEREST = np.dtype([("key", "<u4"), ("value", "<f4"), ("at", "<u4")])
SEEN = np.dtype("<u4")

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def tag_number(tag: str) -> int:
    """A hashtag as a number; 0 is none."""
    return zlib.crc32(tag.encode("utf-8", "replace")) or 1


def short(ids: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Ids as 32 bits, well mixed: enough to tell the few that one person has seen."""
    return ((ids * _GOLDEN) >> np.uint64(32)).astype(np.uint32)


def pack_facts(author: int, cadence: float, *, is_video: bool, is_album: bool, tags: Iterable[str]) -> bytes:
    """The facts of a post."""
    numbers = [tag_number(tag) for tag in tags][:MOST_TAGS]
    row = np.zeros(1, FACTS)
    row[0] = (
        author,
        cadence,
        VIDEO * is_video | ALBUM * is_album,
        numbers + [0] * (MOST_TAGS - len(numbers)),
    )
    return row.tobytes()


def read(blob: bytes | None, layout: "np.dtype[Any]") -> Rows:
    """Records from what Redis holds, or none; a torn end is left out."""
    if not blob:
        return np.empty(0, layout)
    return np.frombuffer(blob, layout, count=len(blob) // layout.itemsize)


def subject(kind: str, number: int) -> bytes:
    """What an act was about, in eight bytes."""
    return hashlib.blake2b(f"{kind}:{number}".encode(), digest_size=8).digest()
