"""`schema.sql`: what all migrations amount to, written from the catalogs of a replay.

Migrations tell how a schema came to be; this file tells what it is. It is written from PostgreSQL's own
printing of each object, sorted by name, without owners, versions or settings, so that the same migrations give
the same bytes and a review shows what a migration changes. Run in an empty shard, it makes the same shard.
"""

from __future__ import annotations

import difflib
from pathlib import Path

from shardwright.errors import MigrationRefused
from shardwright.ids import Layout
from shardwright.migrating.files import Folder, Kind
from shardwright.migrating.replaying import replay, without_library
from shardwright.migrating.writing import write_schema

_HEAD = """\
-- Generated from the migrations: do not edit, write a migration and generate it anew.
"""
_SECTIONS: tuple[tuple[Kind, str], ...] = (
    ("server", "-- On every server, in the schema common."),
    ("shard", "-- In every shard."),
)


async def snapshot(folder: Folder | Path, dsn: str, *, layout: Layout | None = None) -> str:
    """The text of schema.sql; `dsn` names a server on which a scratch database may be created."""
    if isinstance(folder, Path):
        folder = Folder.load(folder)
    replayed = await replay(folder, dsn, layout)
    sections = [_HEAD]
    for kind, head in _SECTIONS:
        if folder.of(kind):
            sections.append(f"{head}\n\n{write_schema(without_library(replayed[kind]))}")
    return "\n".join(sections)


async def check_snapshot(folder: Folder | Path, dsn: str, schema_file: Path) -> None:
    """Refuse a schema.sql that is not what the migrations amount to, with the difference."""
    expected = await snapshot(folder, dsn)
    _compare(schema_file, expected)


def _compare(schema_file: Path, expected: str) -> None:
    found = schema_file.read_text(encoding="utf-8") if schema_file.exists() else ""
    if found == expected:
        return
    lines = difflib.unified_diff(
        found.splitlines(), expected.splitlines(), str(schema_file), "the migrations, replayed", lineterm=""
    )
    difference = "\n".join(lines)
    raise MigrationRefused(
        f"{schema_file} is not what the migrations amount to, write it anew:\n{difference}"
    )
