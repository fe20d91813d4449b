"""Compares the copies of moved shards row by row, at the moment at which they had to be equal.

Between the last change's arrival and the activation of the target nobody can write. A snapshot of each server taken
then is compared later, at leisure: both go on meanwhile.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shardwright.moves.errors import MoveFailed
from shardwright.moves.links import send_marker
from shardwright.moves.models import Move
from shardwright.moves.session import Session, open_server
from shardwright.topology import fetch_rows

if TYPE_CHECKING:
    from asyncpg import Connection

_SHOWN = 5
_COLUMNS = """\
SELECT c.oid::regclass::text AS name,
  string_agg(quote_ident(a.attname), ', ' ORDER BY a.attname) AS columns
FROM pg_catalog.pg_namespace n
JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relkind = 'r'
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE n.nspname = ANY ($1::text[]) GROUP BY c.oid ORDER BY name
"""
# Rows as text must not depend on a server's settings.
_PIN = """\
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL IntervalStyle = 'postgres';
SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1; SET LOCAL lc_monetary = 'C';
SELECT pg_catalog.pg_current_snapshot()
"""


class Snapshots:
    """A snapshot of each server of a move, held open on connections of their own."""

    def __init__(self, source: "Connection", target: "Connection") -> None:
        self._source, self._target = source, target

    @classmethod
    async def connect(cls, session: Session) -> "Snapshots":
        """Connect; the snapshots are taken by `pin`."""
        source = await open_server(session.source_server)
        try:
            return cls(source, await open_server(session.target_server))
        except BaseException:
            source.terminate()
            raise

    async def send_marker(self, link: str) -> int:
        """Write a marker at the target, over a connection that holds no locks."""
        return await send_marker(self._target, link)

    async def pin(self) -> None:
        """Take both snapshots now."""
        for conn in (self._source, self._target):
            await conn.execute(_PIN)

    def close(self) -> None:
        """Let go of the snapshots."""
        for conn in (self._source, self._target):
            conn.terminate()

    async def compare(self, move: Move) -> int:
        """The number of rows that are equal; raises when any differs, or exists on one server alone."""
        here = await fetch_rows(self._source, _COLUMNS, move.schemas)
        there = {
            row["name"]: row["columns"] for row in await fetch_rows(self._target, _COLUMNS, move.schemas)
        }
        if {row["name"]: row["columns"] for row in here} != there:
            raise MoveFailed(f"{move}: the servers do not have the same tables")
        total, wrong = 0, list[str]()
        for row in here:
            mine, yours = [
                await _digest(conn, row["name"], row["columns"]) for conn in (self._source, self._target)
            ]
            total += mine[0]
            if mine != yours:
                wrong.append(await self._describe(row["name"], row["columns"]))
        if wrong:
            raise MoveFailed(
                f"{move}: copies differ: {'; '.join(wrong[:_SHOWN])}. The old copy is as it was: look why, then resume "
                f"the move, or drop the old copy with `shardwright move finish {move.id} --unequal`"
            )
        return total

    async def _describe(self, table: str, columns: str) -> str:
        rows = f"SELECT ROW({columns})::text AS row, count(*) FROM {table} GROUP BY 1"  # noqa: S608 - names of the catalog
        here, there = [
            {(row["row"], row["count"]) for row in await fetch_rows(conn, rows)}
            for conn in (self._source, self._target)
        ]
        only_here, only_there = sorted(here - there), sorted(there - here)
        return (
            f"{table} has {len(only_here)} rows on the source alone ({_some(only_here)}) and {len(only_there)} on the "
            f"target alone ({_some(only_there)})"
        )


def _some(rows: Sequence[tuple[str, int]]) -> str:
    return ", ".join(text[:200] for text, _ in rows[:_SHOWN]) or "none"


async def _digest(conn: "Connection", table: str, columns: str) -> tuple[int, str, str]:
    """The number of rows and two sums of their hashes, in any order."""
    hashes = ", ".join(f"coalesce(sum(hashtextextended(row, {seed})::numeric), 0)::text" for seed in (0, 1))
    sql = f"SELECT count(*), {hashes} FROM (SELECT ROW({columns})::text AS row FROM {table}) AS rows"  # noqa: S608 - names of the catalog
    found = (await fetch_rows(conn, sql))[0]
    return found[0], found[1], found[2]
