"""Reads a site row by row and file by file, past every room, to compare it with its copy."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support import on_server

Rows = dict[str, Counter[str]]
"""The rows of every table as text, by server, schema and table."""

_TABLES = """
SELECT format('%I.%I', n.nspname, c.relname) AS name
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND (n.nspname ~ '^s[0-9]{4}$' OR n.nspname IN ('common', 'shardwright', 'shardwright_directory'))
"""
RUNNING = (
    ".leases",
    ".schedules",
    "common.outbox_position",
    "common.outbox_checkpoints",
    "common.outbox_source",
)
"""What changes while a site merely runs, and what a restore makes anew."""


async def read_rows(dsns: Sequence[str]) -> Rows:
    """Every row of every table of these servers."""
    found: Rows = {}
    for number, dsn in enumerate(dsns, start=1):
        tables = [str(row["name"]) for row in await on_server(dsn, _TABLES)]
        wanted = [table for table in tables if not table.endswith(RUNNING)]
        found |= {f"pg{number} {table}": Counter() for table in wanted}
        statements = (f"SELECT '{table}' AS name, t::text AS row FROM {table} AS t" for table in wanted)
        for row in await on_server(dsn, *statements):
            found[f"pg{number} {row['name']}"][str(row["row"])] += 1
    return found


async def read_keys(dsns: Sequence[str], keys: Mapping[str, str]) -> dict[str, set[tuple[int, ...]]]:
    """Columns of the rows of some tables, of all shards together."""
    found: dict[str, set[tuple[int, ...]]] = {name: set() for name in keys}
    for dsn in dsns:
        schemas = await on_server(dsn, "SELECT nspname FROM pg_namespace WHERE nspname ~ '^s[0-9]{4}$'")
        for name, columns in keys.items():
            statements = (f"SELECT {columns} FROM {row['nspname']}.{name}" for row in schemas)
            found[name] |= {tuple(row.values()) for row in await on_server(dsn, *statements)}
    return found


async def read_files(folder: Path) -> dict[str, str]:
    """The checksum of every file below a folder, by its path."""

    def read() -> dict[str, str]:
        return {
            str(each.relative_to(folder)): hashlib.sha256(each.read_bytes()).hexdigest()
            for each in folder.rglob("*")
            if each.is_file()
        }

    return await asyncio.to_thread(read)
