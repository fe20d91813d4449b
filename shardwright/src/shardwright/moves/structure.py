"""The tables of a shard on its new server: created like those of the old one, and kept like them during a move.

Everything but partitions comes from the catalog's facts, as `schema.sql` does, and is compared by them before writes
are stopped. Partitions may come and go at any time: what the owner creates or drops is repeated at the other server.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardwright.ids import Layout, schema_name, shard_number
from shardwright.migrations import (
    VERSION_TABLE,
    Fact,
    Target,
    differences,
    hash_facts,
    read_facts,
    write_schema,
)
from shardwright.moves.errors import MoveRefused
from shardwright.moves.models import Move
from shardwright.moves.session import Session
from shardwright.topology import (
    creation_sql,
    fetch_rows,
    fetch_value,
    guard_tables_sql,
    restrict_writes_sql,
    search_path,
)

if TYPE_CHECKING:
    from asyncpg import Connection

_PARTITIONS = """\
SELECT n.nspname AS schema, c.relname AS name, quote_ident(c.relname) AS quoted, quote_ident(p.relname) AS parent,
  pg_get_expr(c.relpartbound, c.oid) AS bound, pg_get_partkeydef(c.oid) AS key,
  array_to_string(c.reloptions, ', ') AS options
FROM pg_catalog.pg_namespace n
JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relispartition AND c.relkind IN ('r', 'p')
JOIN pg_catalog.pg_inherits i ON i.inhrelid = c.oid AND NOT i.inhdetachpending
JOIN pg_catalog.pg_class p ON p.oid = i.inhparent
WHERE n.nspname = ANY ($1::text[])
ORDER BY n.nspname, (SELECT count(*) FROM pg_catalog.pg_partition_ancestors(c.oid)), c.relname
"""
_BEFORE_ROWS = frozenset({"type", "sequence", "function", "table", "column", "guard", "library"})
_INDEXED = ("PRIMARY KEY", "UNIQUE", "EXCLUDE")
SCHEMA_OWNER = "SELECT quote_ident(nspowner::regrole::text) FROM pg_catalog.pg_namespace WHERE nspname = $1"


@dataclass(frozen=True)
class Partition:
    """A partition of a shard's table; names are quoted, but for `name`."""

    schema: str
    name: str
    quoted: str
    parent: str
    bound: str
    key: str | None
    options: str | None

    @property
    def table(self) -> str:
        """Its schema and name, as the catalog has them."""
        return f"{self.schema}.{self.name}"

    def creation_sql(self) -> str:
        """The statement that creates it, in the shard's search_path."""
        key = f" PARTITION BY {self.key}" if self.key else ""
        options = f" WITH ({self.options})" if self.options else ""
        name = f"{self.schema}.{self.quoted}"
        return f"CREATE TABLE IF NOT EXISTS {name} PARTITION OF {self.parent} {self.bound}{key}{options};\n"


async def read_partitions(conn: "Connection", schemas: Sequence[str]) -> list[Partition]:
    """The partitions of these shards, parents first."""
    return [Partition(**dict(row)) for row in await fetch_rows(conn, _PARTITIONS, list(schemas))]


async def create_copies(session: Session, move: Move, layout: Layout) -> Mapping[str, Sequence[Fact]]:
    """Create every shard of the move at its target, empty and refusing writes; one that is there is left alone.

    Its tables have no index yet, nor what needs one: `completion` adds it. Returns everything that the source has.
    """
    present = await existing_schemas(session.target, move.schemas)
    facts = await read_facts(session.source, move.schemas, qualified=True)
    partitions = await read_partitions(session.source, move.schemas)
    for number in move.shards:
        schema = schema_name(number)
        if schema not in present:
            own = [each for each in partitions if each.schema == schema]
            owner = await fetch_value(session.source, SCHEMA_OWNER, schema)
            await _create_copy(session.target, number, owner, facts[schema], own, layout)
    return facts


async def existing_schemas(conn: "Connection", schemas: Sequence[str]) -> set[str]:
    """Those of the schemas that the server has."""
    rows = await fetch_rows(
        conn, "SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname = ANY ($1)", list(schemas)
    )
    return {row["nspname"] for row in rows}


async def _create_copy(  # noqa: PLR0917 - all that makes a shard
    conn: "Connection",
    number: int,
    owner: str,
    facts: Sequence[Fact],
    partitions: Sequence[Partition],
    layout: Layout,
) -> None:
    schema = schema_name(number)
    written = write_schema([fact for fact in facts if not is_later(fact)]) if facts else ""
    await conn.execute(  # as one transaction; the owner's default privileges are those of every shard
        f"SET LOCAL ROLE {owner};\n{as_shard_sql(number)};\n"
        + creation_sql(number, layout, owned=False)
        + written
        + "".join(each.creation_sql() for each in partitions)
        + guard_tables_sql(number)
        + restrict_writes_sql(f"{schema}.{VERSION_TABLE}")
    )


def is_later(fact: Fact) -> bool:
    """Whether tables take in rows without it: whatever has an index, or is built upon tables."""
    if fact.kind == "constraint":
        return fact.detail.startswith(_INDEXED)
    return fact.kind not in _BEFORE_ROWS


def as_shard_sql(number: int) -> str:
    """The statements that resolve names as migrations of the shard do, until the transaction ends.

    Functions are not compiled, and the event trigger leaves the guards to whoever creates tables.
    """
    return (
        f"SET LOCAL search_path = {search_path(number)}; SET LOCAL check_function_bodies = off; "
        "SET LOCAL row_security = off"
    )


async def missing_partitions(session: Session, move: Move) -> tuple[list[Partition], list[Partition]]:
    """The partitions that the target lacks, and those that only it has."""
    wanted = await read_partitions(session.source, move.schemas)
    found = await read_partitions(session.target, move.schemas)
    known = {(each.schema, each.name) for each in wanted}
    there = {(each.schema, each.name) for each in found}
    lacking = [each for each in wanted if (each.schema, each.name) not in there]
    return lacking, [each for each in reversed(found) if (each.schema, each.name) not in known]


async def create_partitions(session: Session, partitions: Sequence[Partition]) -> None:
    """Create these partitions at the target, guarded."""
    for each in partitions:
        number = shard_number(each.schema)
        owner = await fetch_value(session.source, SCHEMA_OWNER, each.schema)
        await session.target.execute(
            f"SET LOCAL ROLE {owner}; SET LOCAL lock_timeout = '5s'; {as_shard_sql(number)}; "
            + each.creation_sql()
            + guard_tables_sql(number)
        )


async def drop_partitions(session: Session, partitions: Sequence[Partition]) -> None:
    """Drop these partitions at the target, which the source has dropped."""
    for each in partitions:
        async with session.target.transaction():
            await session.target.execute(
                f"SET LOCAL lock_timeout = '5s'; DROP TABLE IF EXISTS {each.schema}.{each.quoted}"
            )


async def check_equal(session: Session, move: Move) -> None:
    """Raise when a table of a shard was changed at one server alone: its rows could not follow."""
    here = await hash_facts(session.source, move.schemas)
    there = await hash_facts(session.target, move.schemas)
    for schema in move.schemas:
        if here[schema] != there[schema]:
            # Guards may have the event trigger's name on one of them; `owned_shards` is what counts.
            wanted, found = [
                [fact for fact in (await read_facts(conn, [schema]))[schema] if fact.kind != "guard"]
                for conn in (session.source, session.target)
            ]
            target = Target(session.target_server.name, shard_number(schema))
            listed = [str(each) for each in differences(target, wanted, found)]
            if listed:
                raise MoveRefused(
                    f"the tables of {schema} were changed during the move: {'; '.join(listed[:5])}. "
                    "Undo the change, or abort the move and start it again"
                )
