"""Steps of an upgrade: what CREATE OR REPLACE cannot do to the library's own SQL.

Every upgrade re-creates the functions of a level from the code of this release. A step is for the rest: ALTER SEQUENCE,
a new column, DROP of a function whose arguments changed. It runs once for each directory, server or shard that is older
than the step's version, in the transaction that records the new version.

- Routers and shards of the release before keep working: add, and drop only what they do not call.
- Statements wait for locks a quarter of a second at a time, and whoever uses the shard waits behind them: nothing that
  rewrites or scans a table.
- `@schema@` stands for the level's schema: `s0042`, `shardwright` or `shardwright_directory`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shardwright.topology import LIBRARY_VERSION

Level = Literal["directory", "server", "shard"]


@dataclass(frozen=True)
class Step:
    """Statements that bring a level forward to `version`, before or after its functions are re-created."""

    version: int
    level: Level
    name: str
    sql: str
    after_functions: bool = False

    def sql_for(self, schema: str) -> str:
        """The statements for one directory, server or shard."""
        return self.sql.replace("@schema@", schema)


# Numbers, not the constants of today: a step leads to its version, whatever later ones change.
_WIDEN_SEQUENCES = """
ALTER SEQUENCE @schema@.ids_gate MINVALUE -9223372036854775807;
ALTER SEQUENCE @schema@.ids_horizon MAXVALUE 2251799813685247;
-- Closed, until the WAL of the horizon is on disk: version 1 did not wait for that.
SELECT setval('@schema@.ids_gate', 0);
-- A shard without ids begins a moment ago, so that the clock of its first draw is compared with something.
SELECT setval('@schema@.ids', tick), setval('@schema@.ids_horizon', tick)
FROM (SELECT (floor(date_part('epoch', clock_timestamp()) * 1000)::bigint - shardwright.epoch_ms() - 1000) << 10)
    AS made (tick)
WHERE tick BETWEEN 1 AND 1125899906842623 AND pg_sequence_last_value('@schema@.ids_horizon') IS NULL;
"""
STEPS: tuple[Step, ...] = (
    # Last, because whoever draws an id waits from here to the end of the transaction. Those who drew one before have
    # ended theirs, so from the new version on nobody uses the functions of the old one, but statements that wait here.
    Step(2, "shard", "widen the sequences of ids", _WIDEN_SEQUENCES, after_functions=True),
)


@dataclass(frozen=True)
class Release:
    """A version of the library's SQL and the steps that lead to it; the default is what this release creates."""

    version: int = LIBRARY_VERSION
    steps: tuple[Step, ...] = STEPS

    def pending(self, level: Level, version: int) -> list[Step]:
        """The steps that a level of that version lacks, in order."""
        lacking = [
            step for step in self.steps if step.level == level and version < step.version <= self.version
        ]
        return sorted(lacking, key=lambda step: step.version)
