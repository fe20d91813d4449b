"""`schema.sql`: the schema that results from all migrations, written from the catalogs of a replay.

It consists of PostgreSQL's own printing of each object, sorted by name, without owners, versions or settings, so that
the same migrations give the same bytes and a review shows what a migration changes. Executed in an empty shard, it
creates the same shard.
"""

from __future__ import annotations

import difflib
from pathlib import Path

from shardwright.errors import MigrationRefused
from shardwright.ids import Layout
from shardwright.migrations.ddl import write_schema
from shardwright.migrations.drift import differences
from shardwright.migrations.files import Folder, Kind, Migration
from shardwright.migrations.replay import replay, replay_repaired, without_library
from shardwright.migrations.targets import Target
from shardwright.migrations.versions import superseded_numbers

_HEAD = """\
-- Generated from the migrations: do not edit, write a migration and regenerate it.
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
    """Raise `MigrationRefused` with the difference when schema.sql is not the result of the migrations.

    Also when a repair does not lead to that schema, on a shard that got a file before it was superseded.
    """
    if isinstance(folder, Path):
        folder = Folder.load(folder)
    _compare(schema_file, await snapshot(folder, dsn))
    await check_repairs(folder, dsn)


async def check_repairs(folder: Folder, dsn: str) -> None:
    """Raise `MigrationRefused` when a target that had a superseded migration ends up with another schema."""
    everything = (*folder.server, *folder.shard)
    repaired = [each for each in everything if each.repair is not None and not _is_superseded(each, folder)]
    if not repaired:
        return
    expected = await replay(folder, dsn)
    for migration in repaired:
        # A roll-out may have stopped at any of the wrong files, or at one after the other.
        for stops in dict.fromkeys([*((number,) for number in migration.supersedes), migration.supersedes]):
            found = await replay_repaired(folder, migration.kind, sorted(stops), dsn)
            wrong = list(differences(Target("scratch"), expected[migration.kind], found or ()))
            if found is not None and wrong:
                lines = "\n".join(str(each).partition(": ")[2] for each in wrong)
                had = ", ".join(f"{number:04}" for number in stops)
                raise MigrationRefused(
                    f"a target that has {had} differs from the others after {migration.repair}:\n{lines}"
                )


def _is_superseded(migration: Migration, folder: Folder) -> bool:
    return migration.number in superseded_numbers(folder.of(migration.kind))


def _compare(schema_file: Path, expected: str) -> None:
    found = schema_file.read_text(encoding="utf-8") if schema_file.exists() else ""
    if found == expected:
        return
    lines = difflib.unified_diff(
        found.splitlines(), expected.splitlines(), str(schema_file), "the migrations, replayed", lineterm=""
    )
    difference = "\n".join(lines)
    raise MigrationRefused(f"{schema_file} is not the result of the migrations, regenerate it:\n{difference}")
