"""Migration linter: finds statements that would lock, rewrite or lose data, before they reach a server.

`lint(path)` reads a migrations folder, one of its two sub-folders, or a single file, and returns the findings that
are not waived. A file waives a rule for itself, with a reason:
`-- waive: cascade because nothing depends on it`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from shardwright.errors import MigrationRefused
from shardwright.migrations.files import Folder, Kind, Migration, read_migrations
from shardwright.migrations.linter import alter_table, do_blocks, locks, names, tables
from shardwright.migrations.linter.findings import RULES, UNWAIVABLE, Finding
from shardwright.migrations.linter.history import History
from shardwright.migrations.sql_parser import Statement, SyntaxRefused, parse
from shardwright.migrations.versions import superseded_numbers

__all__ = ["RULES", "Finding", "lint", "lint_folder", "lint_migrations"]

_CHECKS: tuple[Callable[[Statement, History], Iterable[tables.Found]], ...] = (
    tables.check_columns,
    tables.check_persistence,
    alter_table.check_alter,
    locks.check_indexes,
    locks.check_transaction,
    locks.check_blocking,
    locks.check_removals,
    do_blocks.check_do,
    names.check_names,
    names.check_foreign_keys,
    names.check_place,
    names.check_settings,
)


def lint(path: Path) -> list[Finding]:
    """Lint a folder or a file; a file is judged together with those that come before it."""
    if (path / "shard").is_dir() or (path / "server").is_dir():
        folder = Folder.load(path)
        return lint_folder(folder)
    if not path.is_file() and not path.is_dir():
        raise MigrationRefused(f"{path} is neither a migrations folder nor a migration")
    home, last = (path, None) if path.is_dir() else (path.parent, path.name)
    files = [file for file in sorted(home.glob("*.sql")) if last is None or file.name[:4] <= last[:4]]
    kind: Kind = "server" if home.name == "server" else "shard"
    shared = (
        read_migrations(sorted((home.parent / "server").glob("*.sql")), "server") if kind == "shard" else ()
    )
    findings = lint_migrations(read_migrations(files, kind), shared=shared)
    return [finding for finding in findings if last is None or finding.path == path]


def lint_folder(folder: Folder) -> list[Finding]:
    """Lint all migrations of an application."""
    return [*lint_migrations(folder.server), *lint_migrations(folder.shard, shared=folder.server)]


def lint_migrations(migrations: Sequence[Migration], *, shared: Sequence[Migration] = ()) -> list[Finding]:
    """Lint migrations of one kind, in order; `shared` are those of the servers, when these are of shards.

    A superseded one is left out: no shard gets it any more. A repair is judged as coming after those it repairs.
    """
    superseded = superseded_numbers(migrations)
    shared_tables = frozenset(_history_of(shared).tables)
    history = History(shared_tables=shared_tables)
    findings: list[Finding] = []
    for migration in migrations:
        if migration.number in superseded:
            continue
        findings += _refusals(migration, history)
        if migration.repair is not None:
            skipped = superseded - set(migration.supersedes)
            before = [each for each in migrations if each.number < migration.number]
            had = [each for each in before if each.number not in skipped]
            findings += _refusals(migration.repair, _history_of(had, shared_tables))
    return findings


def _history_of(migrations: Sequence[Migration], shared_tables: frozenset[str] = frozenset()) -> History:
    """The history of a target that has these migrations."""
    history = History(shared_tables=shared_tables)
    for migration in migrations:
        for _ in _findings(migration, history):
            pass
    return history


def _refusals(migration: Migration, history: History) -> list[Finding]:
    found = sorted(_findings(migration, history))
    waived = {waiver.rule for waiver in migration.waivers} - UNWAIVABLE
    refusals = [finding for finding in found if finding.rule not in waived]
    for waiver in migration.waivers:
        if waiver.rule in UNWAIVABLE or all(finding.rule != waiver.rule for finding in found):
            message = f"{waiver.rule} is waived"
            refusals.append(Finding(migration.path, waiver.line, "unused-waiver", message))
    return refusals


def _findings(migration: Migration, history: History) -> Iterator[Finding]:
    history.start(migration)
    try:
        statements = parse(migration.sql)
    except SyntaxRefused as fault:
        yield Finding(migration.path, fault.line, "syntax", fault.message)
        return
    for statement in statements:
        # A statement is judged by what came before it: a table that it creates itself is not "new" to it.
        for rule, message in (found for check in _CHECKS for found in check(statement, history)):
            yield Finding(migration.path, statement.line, rule, message)
        history.add(statement)
        for part in do_blocks.statements_in(statement) if statement.node.kind == "DoStmt" else ():
            for rule, message in (found for check in _CHECKS for found in check(part, history)):
                yield Finding(migration.path, part.line, rule, f"in a DO block: {message}")
            history.add(part)
    for line, message in tables.missing_keys(history):
        yield Finding(migration.path, line, "missing-primary-key", message)
