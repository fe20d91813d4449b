"""Gives the tables of copied shards what they did without while rows were copied, several at a time.

First primary keys and other constraints that have an index, then the remaining indexes, then what is built upon them:
foreign keys, triggers, views, replica identities. Statistics can be collected while changes follow already.
"""

from collections import defaultdict
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

import asyncpg

from shardwright.ids import schema_name
from shardwright.migrations import Fact, read_facts, write_schema
from shardwright.moves.errors import MoveFailed
from shardwright.moves.models import Move
from shardwright.moves.parallel import share_out
from shardwright.moves.session import Session, open_server
from shardwright.moves.structure import SCHEMA_OWNER, as_shard_sql, is_later
from shardwright.topology import fetch_rows, fetch_value

if TYPE_CHECKING:
    from asyncpg import Connection, Record

# Large tables first: whoever is busy with one leaves the others to the rest.
_TABLES = """\
SELECT c.oid::regclass::text AS name, c.relname, n.nspname AS schema, pg_relation_size(c.oid) AS size_bytes,
  NOT EXISTS (SELECT FROM pg_catalog.pg_statistic s WHERE s.starelid = c.oid) AS lacks_statistics
FROM pg_catalog.pg_namespace n
JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relkind = 'r'
WHERE n.nspname = ANY ($1::text[]) ORDER BY size_bytes DESC, name
"""
_PARENT = -1
"""Before them the parents of partitions, which have no rows of their own and are as large as all of these."""
_TABLES_AT_ONCE = 32
_BYTES_PER_JOB = 8 * 2**20
"""A further connection costs as much as indexing a few of these."""


class _Statements(NamedTuple):
    """DDL to execute as one transaction, in a shard's search_path and as the owner of its schema."""

    number: int
    owner: str
    sql: str

    async def carry_out(self, conn: "Connection") -> None:
        await conn.execute(f"SET LOCAL ROLE {self.owner}; {as_shard_sql(self.number)}; {self.sql}")


class _Statistics(NamedTuple):
    """Tables to analyse."""

    tables: str

    async def carry_out(self, conn: "Connection") -> None:
        await conn.execute(f"ANALYZE {self.tables}")


_Work = _Statements | _Statistics


async def complete_copies(
    session: Session, move: Move, jobs: int, created_from: Mapping[str, Sequence[Fact]] | None
) -> None:
    """Create everything that the target's tables lack; so many at once.

    `created_from` is what the source had when this attempt created the tables; otherwise both servers are asked.
    """
    tables = await fetch_rows(session.target, _TABLES, move.schemas)
    wanted = created_from or await read_facts(session.source, move.schemas, qualified=True)
    found: Mapping[str, Sequence[Fact]] = (
        {} if created_from else await read_facts(session.target, move.schemas, qualified=True)
    )
    rank = {(row["schema"], row["relname"]): position for position, row in enumerate(tables)}
    shards = [
        _Shard(
            number,
            await fetch_value(session.source, SCHEMA_OWNER, schema),
            _lacking(wanted[schema], found.get(schema, [])),
        )
        for number, schema in zip(move.shards, move.schemas, strict=True)
    ]
    phases = _phases(shards, rank)
    jobs = min(jobs, _useful_jobs(tables), max(map(len, phases)))
    async with _connections(session, jobs) as conns:
        for works in phases:
            try:
                await share_out(conns, works, _carry_out)
            except asyncpg.IntegrityConstraintViolationError as error:
                raise MoveFailed(
                    f"{move}: rows of the source violate a constraint of their table ({error}): "
                    "abort the move, repair them, and start it again"
                ) from error


async def collect_statistics(session: Session, move: Move, jobs: int) -> None:
    """Analyse the target's tables that have no statistics; so many at once."""
    tables = [
        row for row in await fetch_rows(session.target, _TABLES, move.schemas) if row["lacks_statistics"]
    ]
    names = [row["name"] for row in tables]
    size = max(1, min(_TABLES_AT_ONCE, len(names) // jobs))
    works = [_Statistics(", ".join(names[i : i + size])) for i in range(0, len(names), size)]
    async with _connections(session, min(jobs, _useful_jobs(tables), len(works))) as conns:
        await share_out(conns, works, _carry_out)


def _useful_jobs(tables: Sequence["Record"]) -> int:
    return 1 + sum(row["size_bytes"] for row in tables) // _BYTES_PER_JOB


async def _carry_out(conn: "Connection", work: _Work) -> None:
    await work.carry_out(conn)


class _Shard(NamedTuple):
    """A shard, and what its copy lacks."""

    number: int
    owner: str
    lacking: Sequence[Fact]

    def to_create(self, sql: str) -> _Statements:
        return _Statements(self.number, self.owner, sql)


def _lacking(wanted: Sequence[Fact], found: Sequence[Fact]) -> list[Fact]:
    there = {(fact.kind, fact.owner, fact.name) for fact in found}
    return [fact for fact in wanted if is_later(fact) and (fact.kind, fact.owner, fact.name) not in there]


def _phases(shards: Sequence[_Shard], rank: Mapping[tuple[str, str], int]) -> list[list[_Work]]:
    """Constraints by table, then indexes, of large tables first; then the rest by shard."""
    keys, indexes, rest = list[tuple[int, _Work]](), list[tuple[int, _Work]](), list[_Work]()
    for shard in shards:
        by_table: defaultdict[str, list[Fact]] = defaultdict(list)
        for fact in shard.lacking:
            if fact.kind == "constraint":
                by_table[fact.owner].append(fact)
            elif fact.kind == "index":
                place = rank.get((schema_name(shard.number), fact.owner), _PARENT)
                indexes.append((place, shard.to_create(_with_partitions(fact))))
        keys += [
            (rank.get((schema_name(shard.number), table), _PARENT), shard.to_create(write_schema(facts)))
            for table, facts in by_table.items()
        ]
        if others := [fact for fact in shard.lacking if fact.kind not in {"constraint", "index"}]:
            rest.append(shard.to_create(write_schema(others)))
    return [[work for _, work in sorted(works, key=lambda each: each[0])] for works in (keys, indexes)] + [
        rest
    ]


def _with_partitions(index: Fact) -> str:
    """The statement that creates the index, also of each partition: PostgreSQL prints it for the parent alone."""
    return write_schema([index]).replace(" ON ONLY ", " ON ", 1)


@asynccontextmanager
async def _connections(session: Session, count: int) -> AsyncGenerator[list["Connection"]]:
    """The coordinator's connection to the target, and as many more as are needed."""
    async with AsyncExitStack() as stack:
        conns = [session.target]
        for _ in range(1, count):
            conn = await open_server(session.target_server)
            stack.callback(conn.terminate)
            conns.append(conn)
        yield conns
