"""Which transactions a table's copy contains, by the snapshot at which it was made."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_EPOCH = 1 << 32


@dataclass(frozen=True)
class Snapshot:
    """`pg_snapshot` of PostgreSQL: transactions below `xmin` have ended, from `xmax` on none had."""

    xmin: int
    xmax: int
    running: frozenset[int]

    @classmethod
    def parse(cls, text: str) -> "Snapshot":
        """Read PostgreSQL's text of it: xmin, xmax and those that were running."""
        xmin, xmax, running = text.split(":")
        return cls(int(xmin), int(xmax), frozenset(map(int, filter(None, running.split(",")))))

    def contains(self, xid: int) -> bool:
        """Whether the changes of a committed transaction, by the lower 32 bits of its number, are visible."""
        # The number that is nearest to xmax: transactions of a stream are less than 2^31 away from it.
        full = self.xmax - self.xmax % _EPOCH + xid
        if full - self.xmax >= _EPOCH // 2:
            full -= _EPOCH
        elif self.xmax - full > _EPOCH // 2:
            full += _EPOCH
        return full < self.xmin or (full < self.xmax and full not in self.running)


@dataclass(frozen=True)
class Snapshots:
    """The snapshots of an adoption's tables."""

    by_table: Mapping[str, Snapshot]

    @classmethod
    def parse(cls, copied: Mapping[str, Mapping[str, Any]]) -> "Snapshots":
        """Read what the journal has of copied tables."""
        return cls({name: Snapshot.parse(each["snapshot"]) for name, each in copied.items()})

    def contain(self, table: str, xid: int) -> bool:
        """Whether the copy of a table contains the changes of a transaction."""
        return table in self.by_table and self.by_table[table].contains(xid)
