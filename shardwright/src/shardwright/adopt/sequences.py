"""Sequences of the next owner's tables go on above those of the owner, which is fenced."""

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from shardwright.adopt.gather_all import gather_all
from shardwright.adopt.routes import Routes
from shardwright.adopt.session import Session
from shardwright.adopt.sides import Side
from shardwright.topology import fetch_rows

if TYPE_CHECKING:
    from asyncpg import Connection

MARGIN = 1024
"""Values that clients may have drawn from a sequence without a write that the fence would have refused."""

_READ = """\
SELECT c.relname AS table, a.attname AS column, s.seqrelid::regclass::text AS sequence, s.seqincrement AS step,
  s.seqmin AS least, s.seqmax AS most
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid
  AND d.refobjsubid = a.attnum AND d.deptype IN ('a', 'i')
JOIN pg_sequence s ON s.seqrelid = d.objid
WHERE n.nspname = ANY ($1::text[]) AND c.relname = ANY ($2::text[])
"""
_LAST_VALUES = """\
SELECT pg_sequence_last_value(name::regclass) AS value
FROM unnest($1::text[]) WITH ORDINALITY AS s (name, at) ORDER BY at
"""
_SET = "SELECT setval(name::regclass, value) FROM unnest($1::text[], $2::bigint[]) AS s (name, value)"


class Sequence(NamedTuple):
    """A sequence of a column."""

    column: tuple[str, str]
    """The names of its table and of itself, the same on both sides."""
    name: str
    step: int
    least: int
    most: int


class SharedSequences:
    """The sequences of columns that have one on both sides, found before writers wait."""

    def __init__(self, owner: "Sequences", heir: "Sequences") -> None:
        shared = _columns(owner) & _columns(heir)
        self._owner, self._heir = _only(owner, shared), _only(heir, shared)

    async def carry(self) -> None:
        """Make the sequences of the next owner go on above those of the owner."""
        highest: dict[tuple[str, str], int] = {}
        for column, value in chain.from_iterable(await gather_all(map(_read_values, self._owner))):
            if value is not None:
                highest[column] = max(highest.get(column, 0), value)
        await gather_all(_raise_values(conn, own, highest) for conn, own in self._heir)


Sequences = list[tuple["Connection", list[Sequence]]]
"""Sequences by the connection to their database."""


async def find_shared_sequences(session: Session, routes: Routes, *, is_back: bool) -> SharedSequences:
    """Find the sequences that the next owner takes over."""
    sides = session.sides(routes)
    owner, heir = sides[::-1] if is_back else sides
    return SharedSequences(await _find(owner, list(routes.tables)), await _find(heir, list(routes.tables)))


async def _find(side: Side, tables: list[str]) -> Sequences:
    found: Sequences = []
    for server, conn in side.conns.items():
        rows = await fetch_rows(conn, _READ, _schemas(side, server), tables)
        own = [
            Sequence((row["table"], row["column"]), row["sequence"], row["step"], row["least"], row["most"])
            for row in rows
        ]
        found.append((conn, own))
    return found


def _columns(found: Sequences) -> set[tuple[str, str]]:
    return {each.column for _, own in found for each in own}


def _only(found: Sequences, columns: set[tuple[str, str]]) -> Sequences:
    kept = [(conn, [each for each in own if each.column in columns]) for conn, own in found]
    return [(conn, own) for conn, own in kept if own]


async def _read_values(
    found: "tuple[Connection, list[Sequence]]",
) -> list[tuple[tuple[str, str], int | None]]:
    conn, own = found
    rows = await fetch_rows(conn, _LAST_VALUES, [each.name for each in own])
    return [(each.column, row["value"]) for each, row in zip(own, rows, strict=True)]


async def _raise_values(conn: "Connection", own: list[Sequence], highest: dict[tuple[str, str], int]) -> None:
    values: dict[str, int] = {}
    for each, (column, last) in zip(own, await _read_values((conn, own)), strict=True):
        reached = highest.get(column)
        if reached is None or (last or 0) > reached:
            continue
        beyond = reached + MARGIN * abs(each.step)
        values[each.name] = beyond if each.least <= beyond <= each.most else min(reached, each.most)
    if values:
        await conn.execute(_SET, list(values), list(values.values()))


def _schemas(side: Side, server: str) -> list[str]:
    """The schemas of a server that have adopted tables."""
    places = {place for own in side.places.values() for place in own if place.server == server}
    return sorted(place.schema for place in places)
