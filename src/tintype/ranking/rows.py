"""The fixed layouts in which features lie in Redis: reading one is a cast, not a parse.

Everything that fades is a value and the second at which it was that much. Little-endian throughout.
"""

import hashlib
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_TAGS = 4
"""Hashtags of a post that count."""
MOST_AUTHORS, MOST_INTERESTS, MOST_SEEN = 256, 128, 1_500
"""Of a viewer: the weakest, and what was seen longest ago, make room."""
VIDEO, ALBUM = 1, 2
TAG_NUMBERS = 1 << 16

Rows = NDArray[Any]
"""Records of one of the layouts below."""
Floats = NDArray[np.float32]

FACTS = np.dtype([("author", "<u8"), ("cadence", "<f4"), ("flags", "<u4"), ("tags", "<u2", (MOST_TAGS,))])
POST = np.dtype([("value", "<f4"), ("at", "<u4"), *((name, FACTS[name]) for name in FACTS.names or ())])
"""A post: how much is going on around it, then its facts, which begin at `FACTS_AT`."""
FACTS_AT = POST.itemsize - FACTS.itemsize
AFFINITY = np.dtype([("key", "<u8"), ("value", "<f4"), ("at", "<u4")])
INTEREST = np.dtype([("key", "<u2"), ("value", "<f4"), ("at", "<u4")])
SEEN = np.dtype("<u4")


@dataclass(frozen=True)
class Posts:
    """Rows of posts, column by column, as vectors want them."""

    author: NDArray[np.uint64]
    tags: NDArray[np.uint16]
    """A row for each place among a post's hashtags."""
    value: NDArray[np.float64]
    at: NDArray[np.float64]
    cadence: NDArray[np.float64]
    video: NDArray[np.float64]
    album: NDArray[np.float64]

    @classmethod
    def of(cls, rows: Rows) -> "Posts":
        """The same rows, column by column."""
        return cls(rows["author"], rows["tags"].T, *columns(rows))


def columns(rows: Rows) -> NDArray[np.float64]:
    """The numbers: value, second, cadence, whether there is a video, whether there are several pictures."""
    flags = rows["flags"]
    return np.stack(
        [rows["value"], rows["at"], rows["cadence"], (flags & VIDEO) != 0, (flags & ALBUM) != 0]
    ).astype(float)


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def tag_number(tag: str) -> int:
    """A hashtag as a number of 16 bits; 0 is none. Two tags in a while share one, which does little harm."""
    return zlib.crc32(tag.encode("utf-8", "replace")) % TAG_NUMBERS or 1


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
