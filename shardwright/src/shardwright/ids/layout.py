"""Id layout: 41 bits of milliseconds since an epoch, 13 of shard, 10 of sequence.

PostgreSQL's bigint is signed, so the top bit stays clear: 2^40 milliseconds, 34.8 years from the epoch.
"""

import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from shardwright.errors import EpochInvalid, InvalidId

SEQUENCE_BITS: Final = 10
SHARD_BITS: Final = 13
TIME_SHIFT: Final = SEQUENCE_BITS + SHARD_BITS
MAX_SHARDS: Final = 1 << SHARD_BITS
MAX_MS: Final = 1 << 40
MAX_ID: Final = (1 << 63) - 1
LEGACY_LIMIT: Final = 1 << 31
"""Ids below this came from a plain serial column before there were shards: they belong to shard 0."""

FIRST_MS: Final = (LEGACY_LIMIT >> TIME_SHIFT) + 1
"""The first millisecond whose ids are all above the legacy ones."""

DEFAULT_EPOCH_MS: Final = 1_735_689_600_000
"""2025-01-01T00:00:00Z."""

_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)
_SHARD_MASK = MAX_SHARDS - 1
_SEQUENCE_MASK = (1 << SEQUENCE_BITS) - 1
_MS_PER_YEAR = 365.2425 * 24 * 3600 * 1000
_WARN_BELOW_YEARS = 5.0


@dataclass(frozen=True)
class Layout:
    """An id layout, determined by its epoch, which cannot change once ids exist."""

    epoch_ms: int = DEFAULT_EPOCH_MS

    def __post_init__(self) -> None:
        if self.epoch_ms < 0:
            raise EpochInvalid(f"The epoch {self.epoch_ms} lies before 1970: give milliseconds since then.")
        latest = _now_ms() - FIRST_MS
        if self.epoch_ms > latest:
            raise EpochInvalid(
                f"The epoch {self.epoch_ms} is too recent: ids generated now would fall among legacy ids below 2^31. "
                f"Choose {latest} or earlier."
            )

    def compose(self, ms: int, shard: int, sequence: int) -> int:
        """Return the id with this millisecond since the epoch, shard and sequence number."""
        if not (0 <= ms < MAX_MS and 0 <= shard < MAX_SHARDS and 0 <= sequence <= _SEQUENCE_MASK):
            raise InvalidId(f"No id has millisecond {ms}, shard {shard} and sequence {sequence}.")
        return ms << TIME_SHIFT | shard << SEQUENCE_BITS | sequence

    def id_time(self, id: int) -> datetime:  # noqa: A002 - an id is called an id
        """Return when the id was generated, to the millisecond; raises for legacy ids, which contain no time."""
        if check_id(id) < LEGACY_LIMIT:
            raise InvalidId(f"{id} is a legacy id: it contains no time.")
        return _UNIX_EPOCH + (self.epoch_ms + (id >> TIME_SHIFT)) * _MS

    def id_shard(self, id: int) -> int:  # noqa: A002 - an id is called an id
        """Return the shard the id belongs to: shard 0 for legacy ids."""
        return 0 if check_id(id) < LEGACY_LIMIT else id >> SEQUENCE_BITS & _SHARD_MASK

    def id_sequence(self, id: int) -> int:  # noqa: A002 - an id is called an id
        """Return the id's sequence number within its millisecond."""
        return check_id(id) & _SEQUENCE_MASK

    def min_id_at(self, time: datetime) -> int:
        """Return the smallest id of that time: everything created then or later has that id or a larger one.

        Times before the epoch give 0 and times after the last millisecond the largest bigint, so that a comparison
        with the bound is right for every time.
        """
        if time.tzinfo is None:
            raise InvalidId(f"{time} has no time zone.")
        ms = (time - _UNIX_EPOCH) // _MS - self.epoch_ms
        if ms < 0:
            return 0
        return MAX_ID if ms >= MAX_MS else ms << TIME_SHIFT

    def years_left(self, now: datetime | None = None) -> float:
        """Return for how many more years ids can be generated."""
        now_ms = _now_ms() if now is None else (now - _UNIX_EPOCH) // _MS
        return (self.epoch_ms + MAX_MS - now_ms) / _MS_PER_YEAR

    def find_warning(self, now: datetime | None = None) -> str | None:
        """Return a warning for `doctor` when few years of ids are left; None otherwise."""
        left = self.years_left(now)
        if left > _WARN_BELOW_YEARS:
            return None
        ends_at = _UNIX_EPOCH + (self.epoch_ms + MAX_MS) * _MS
        return f"Ids run out on {ends_at:%Y-%m-%d}, in {left:.1f} years: plan the next layout."


def check_id(id: int) -> int:  # noqa: A002 - an id is called an id
    """Return the id itself; raises `InvalidId` for a number that cannot be one."""
    if not 0 <= id <= MAX_ID:
        raise InvalidId(f"{id} is not an id: ids are positive and fit a bigint.")
    return id


def schema_name(number: int) -> str:
    """Return the schema that holds a shard: `s0042`."""
    return f"s{check_shard(number):04d}"


def shard_number(schema: str) -> int:
    """Return the shard number of a schema name."""
    if re.fullmatch(r"s[0-9]{4}", schema) is None:
        raise InvalidId(f"{schema!r} is not a shard's schema.")
    return check_shard(int(schema[1:]))


def check_shard(number: int) -> int:
    """Return the number itself; raises `InvalidId` for one that no shard can have."""
    if not 0 <= number < MAX_SHARDS:
        raise InvalidId(f"{number} is not a shard: they are numbered 0 to {MAX_SHARDS - 1}.")
    return number


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
