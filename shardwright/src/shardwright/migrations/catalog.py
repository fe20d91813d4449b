"""Reads PostgreSQL's catalogs of many schemas as comparable facts.

A fact describes one object of a schema: a column with its type and default, a constraint, an index, a trigger. The
schema's own name is removed from it, so that two shards are identical exactly when their facts are equal, which the
server can decide with one hash per shard.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shardwright.ids import DEFAULT_EPOCH_MS, Layout
from shardwright.migrations.connections import Connection, fetch_rows
from shardwright.topology import creation_sql

# The library's own objects in a shard, which differ between shards by design. Extracted from the statements that
# create them, so that the list cannot be out of date.
LIBRARY_NAMES: list[str] = sorted(
    set(re.findall(r"(?:SEQUENCE|FUNCTION) s0000\.(\w+)", creation_sql(0, Layout(DEFAULT_EPOCH_MS))))
)

_FACTS = Path(__file__).with_name("catalog.sql").read_text(encoding="utf-8")
_READ = """
SELECT * FROM {} ORDER BY schema, kind, owner COLLATE "C", position, name COLLATE "C"
"""
_HASH = """
SELECT schema, md5(string_agg(fact, '' ORDER BY fact COLLATE "C")) AS hash
FROM (SELECT schema, md5(concat_ws(chr(31), kind, owner, name, position, detail)) AS fact FROM plain) AS hashed
GROUP BY schema
"""


@dataclass(frozen=True, order=True)
class Fact:
    """One object of a schema; `owner` is the table it belongs to, if any."""

    kind: str
    owner: str
    position: int
    name: str
    detail: str

    def __str__(self) -> str:
        return f"{self.kind} {self.owner + '.' if self.owner else ''}{self.name}"


async def read_facts(
    connection: Connection, schemas: Iterable[str], *, qualified: bool = False
) -> Mapping[str, Sequence[Fact]]:
    """Read the facts of each schema, in a fixed order.

    With `qualified`, they keep the schema's name wherever it stands: to create the same schema elsewhere.
    """
    wanted = list(schemas)
    read = _READ.format("facts" if qualified else "plain")
    found: dict[str, list[Fact]] = {schema: [] for schema in wanted}
    async with connection.transaction(readonly=True):
        await connection.execute("SET LOCAL search_path = pg_catalog")
        for row in await fetch_rows(connection, _FACTS + read, wanted, LIBRARY_NAMES):
            fact = Fact(row["kind"], row["owner"], row["position"], row["name"], row["detail"])
            found[row["schema"]].append(fact)
    return found


async def hash_facts(connection: Connection, schemas: Iterable[str]) -> Mapping[str, str]:
    """One hash of the facts per schema, computed on the server; an empty schema has an empty hash."""
    wanted = list(schemas)
    async with connection.transaction(readonly=True):
        await connection.execute("SET LOCAL search_path = pg_catalog")
        rows = await fetch_rows(connection, _FACTS + _HASH, wanted, LIBRARY_NAMES)
    return dict.fromkeys(wanted, "") | {row["schema"]: row["hash"] for row in rows}
