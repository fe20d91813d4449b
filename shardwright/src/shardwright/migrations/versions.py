"""Schema versions, stored in the shard itself: moved and restored with it, so they cannot disagree with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from shardwright.migrations.connections import Connection, fetch_rows
from shardwright.migrations.files import Migration
from shardwright.topology import restrict_writes_sql

VERSION_TABLE = "schema_version"

# A row without applied_at belongs to a non-transactional migration that was started and not finished.
_CREATE = """
CREATE TABLE IF NOT EXISTS {schema}.schema_version (
    number integer PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    applied_at timestamptz
);
"""
_PRESENT = """
SELECT n.nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname = 'schema_version' AND n.nspname = ANY ($1::text[])
"""
# One query for many tables; beyond some hundred, planning outweighs the round trips saved.
_TABLES_PER_QUERY = 100


@dataclass(frozen=True)
class Version:
    """A migration that a shard has, or (not `is_applied`) that was started outside a transaction."""

    number: int
    name: str
    checksum: str
    is_applied: bool


def create_sql(schema: str) -> str:
    """The statements that create the version table, which only its owner writes."""
    return _CREATE.format(schema=schema) + restrict_writes_sql(f"{schema}.{VERSION_TABLE}")


def record_sql(schema: str, migration: Migration) -> str:
    """The statement that records a migration, for use in its own transaction."""
    # The file's name and checksum are limited to [a-z0-9_] where it is read, so they need no quoting.
    values = f"{migration.number}, '{migration.name}', '{migration.checksum}', clock_timestamp()"
    table = f"{schema}.schema_version (number, name, checksum, applied_at)"
    return f"INSERT INTO {table} VALUES ({values});"  # noqa: S608 - names come from the library, values are parameters


async def read_versions(connection: Connection, schemas: Iterable[str]) -> Mapping[str, Sequence[Version]]:
    """Read the versions of each schema, in order; none for a schema that was never migrated."""
    found: dict[str, list[Version]] = {schema: [] for schema in schemas}
    present = [row["nspname"] for row in await fetch_rows(connection, _PRESENT, list(found))]
    for start in range(0, len(present), _TABLES_PER_QUERY):
        query = " UNION ALL ".join(_select(schema) for schema in present[start : start + _TABLES_PER_QUERY])
        for row in await fetch_rows(connection, f"{query} ORDER BY schema, number"):
            is_applied = row["applied_at"] is not None
            found[row["schema"]].append(Version(row["number"], row["name"], row["checksum"], is_applied))
    return found


def _select(schema: str) -> str:
    columns = "number, name, checksum, applied_at"
    return f"SELECT '{schema}' AS schema, {columns} FROM {schema}.schema_version"  # noqa: S608 - made by the library


def find_conflict(versions: Sequence[Version], migrations: Sequence[Migration]) -> str | None:
    """Return why the folder cannot be applied on top of these versions; None when it can."""
    for version, migration in zip_longest(versions, expected(versions, migrations)):
        if version is None:
            return None
        has = f"{version.number:04}_{version.name}"
        if migration is None:
            return f"has {has}, which the folder does not: the code is older than the database"
        if version.number != migration.number:
            return f"has {has} but not {migration}: give the new file the next free number"
        if not version.is_applied:
            continue  # it failed outside a transaction, and may have been corrected
        if version.name != migration.name:
            return f"has {has} where the folder has {migration}: give the new file the next free number"
        if version.checksum != migration.checksum:
            return (
                f"has {migration} with different content: restore the file and write a new migration, which says "
                f"`-- supersedes: {migration.number:04}` if no other shard shall get this one"
            )
    return None


def expected(versions: Sequence[Version], migrations: Sequence[Migration]) -> list[Migration]:
    """The migrations that a schema with these versions has in the end, in order.

    A superseded one is among them only where it was applied or begun, and then the repair stands for the file that
    supersedes it.
    """
    known = {version.number for version in versions}
    superseded = superseded_numbers(migrations)
    return [
        migration.repair
        if migration.repair is not None and known.intersection(migration.supersedes)
        else migration
        for migration in migrations
        if migration.number in known or migration.number not in superseded
    ]


def superseded_numbers(migrations: Sequence[Migration]) -> set[int]:
    """The migrations that no schema gets any more."""
    return {number for migration in migrations for number in migration.supersedes}


def pending(versions: Sequence[Version], migrations: Sequence[Migration]) -> tuple[Migration, ...]:
    """The migrations that a schema does not have yet, in order."""
    done = {version.number for version in versions if version.is_applied} | superseded_numbers(migrations)
    return tuple(each for each in expected(versions, migrations) if each.number not in done)


def unrepaired(versions: Sequence[Version], migrations: Sequence[Migration]) -> tuple[int, ...]:
    """The superseded migrations that a schema has, or began, and whose repair it does not have yet."""
    known = {version.number for version in versions}
    waiting = pending(versions, migrations)
    wrong = {number for each in migrations if _is_repaired_by(each, waiting) for number in each.supersedes}
    return tuple(sorted(wrong & known))


def _is_repaired_by(migration: Migration, waiting: Sequence[Migration]) -> bool:
    return migration.repair is not None and migration.repair in waiting
