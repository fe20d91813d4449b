"""The fixed binary layouts of features in Redis: reading one is a cast, not a parse.

Everything that decays is a value and the second at which it had that value. Little-endian throughout.
"""

import hashlib
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_TAGS = 4
"""How many hashtags of a post count."""
MAX_AUTHORS, MAX_INTERESTS, MAX_SEEN = 256, 128, 1_500
"""Per viewer; the weakest authors and interests, and the posts seen longest ago, are evicted."""
VIDEO, ALBUM = 1, 2
TAG_NUMBERS = 1 << 16

Rows = NDArray[Any]
"""Records of one of the layouts below."""
Floats = NDArray[np.float32]

ATTRIBUTES = np.dtype([("author", "<u8"), ("cadence", "<f4"), ("flags", "<u4"), ("tags", "<u2", (MAX_TAGS,))])
POST = np.dtype(
    [("value", "<f4"), ("at", "<u4"), *((name, ATTRIBUTES[name]) for name in ATTRIBUTES.names or ())]
)
"""A post: its popularity, which decays, then its attributes, which begin at `ATTRIBUTES_AT`."""
ATTRIBUTES_AT = POST.itemsize - ATTRIBUTES.itemsize
AFFINITY = np.dtype([("key", "<u8"), ("value", "<f4"), ("at", "<u4")])
INTEREST = np.dtype([("key", "<u2"), ("value", "<f4"), ("at", "<u4")])
SEEN = np.dtype("<u4")


@dataclass(frozen=True)
class PostColumns:
    """Rows of posts, column by column, as vector arithmetic needs them."""

    author: NDArray[np.uint64]
    tags: NDArray[np.uint16]
    """One row for the first hashtags of all posts, one for the second, and so on."""
    value: NDArray[np.float64]
    at: NDArray[np.float64]
    cadence: NDArray[np.float64]
    video: NDArray[np.float64]
    album: NDArray[np.float64]

    @classmethod
    def of(cls, rows: Rows) -> "PostColumns":
        """The same rows, column by column."""
        return cls(rows["author"], rows["tags"].T, *columns(rows))


def columns(rows: Rows) -> NDArray[np.float64]:
    """The numeric columns: value, second, cadence, whether there is a video, whether there are several pictures."""
    flags = rows["flags"]
    return np.stack(
        [rows["value"], rows["at"], rows["cadence"], (flags & VIDEO) != 0, (flags & ALBUM) != 0]
    ).astype(float)


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def tag_number(tag: str) -> int:
    """A hashtag as a 16-bit number; 0 is none. Collisions are rare and do little harm."""
    return zlib.crc32(tag.encode("utf-8", "replace")) % TAG_NUMBERS or 1


def short_hash(ids: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Ids hashed to 32 bits: enough to tell apart the few that one person has seen."""
    return ((ids * _GOLDEN) >> np.uint64(32)).astype(np.uint32)


def pack_attributes(
    author: int, cadence: float, *, is_video: bool, is_album: bool, tags: Iterable[str]
) -> bytes:
    """The attributes of a post: what does not decay."""
    numbers = [tag_number(tag) for tag in tags][:MAX_TAGS]
    row = np.zeros(1, ATTRIBUTES)
    row[0] = (
        author,
        cadence,
        VIDEO * is_video | ALBUM * is_album,
        numbers + [0] * (MAX_TAGS - len(numbers)),
    )
    return row.tobytes()


def parse(blob: bytes | None, layout: "np.dtype[Any]") -> Rows:
    """Records from a value in Redis; none where there is no value. A truncated last record is left out."""
    if not blob:
        return np.empty(0, layout)
    return np.frombuffer(blob, layout, count=len(blob) // layout.itemsize)


def subject_hash(kind: str, number: int) -> bytes:
    """The object of an interaction, in eight bytes."""
    return hashlib.blake2b(f"{kind}:{number}".encode(), digest_size=8).digest()
