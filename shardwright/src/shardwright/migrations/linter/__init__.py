"""Migration linter: finds statements that would lock, rewrite or lose data, before they reach a server.

`lint(path)` reads a migrations folder, one of its two sub-folders, or a single file, and returns the findings that
are not waived. A file waives a rule for itself, with a reason:
`-- waive: cascade because nothing depends on it`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

from shardwright.errors import MigrationRefused
from shardwright.migrations.files import Folder, Kind, Migration, read_migrations
from shardwright.migrations.linter import alter_table, locks, names, tables
from shardwright.migrations.linter.findings import RULES, UNWAIVABLE, Finding
from shardwright.migrations.linter.history import History
from shardwright.migrations.sql_parser import Statement, SyntaxRefused, parse
from shardwright.migrations.versions import superseded_numbers

__all__ = ["RULES", "Finding", "lint", "lint_migrations"]

_CHECKS: tuple[Callable[[Statement, History], Iterable[tables.Found]], ...] = (
    tables.check_columns,
    tables.check_persistence,
    alter_table.check_alter,
    locks.check_indexes,
    locks.check_transaction,
    locks.check_blocking,
    locks.check_removals,
    names.check_names,
    names.check_place,
    names.check_settings,
)


def lint(path: Path) -> list[Finding]:
    """Lint a folder or a file; a file is judged together with those that come before it."""
    if (path / "shard").is_dir() or (path / "server").is_dir():
        folder = Folder.load(path)
        return [*lint_migrations(folder.server), *lint_migrations(folder.shard)]
    if not path.is_file() and not path.is_dir():
        raise MigrationRefused(f"{path} is neither a migrations folder nor a migration")
    home, last = (path, None) if path.is_dir() else (path.parent, path.name)
    files = [file for file in sorted(home.glob("*.sql")) if last is None or file.name[:4] <= last[:4]]
    kind: Kind = "server" if home.name == "server" else "shard"
    findings = lint_migrations(read_migrations(files, kind))
    return [finding for finding in findings if last is None or finding.path == path]


def lint_migrations(migrations: Sequence[Migration]) -> list[Finding]:
    """Lint migrations of one kind, in order.

    A superseded one is left out: no shard gets it any more. A repair is judged as coming after those it repairs.
    """
    superseded = superseded_numbers(migrations)
    history = History()
    findings: list[Finding] = []
    for migration in migrations:
        if migration.number in superseded:
            continue
        findings += _refusals(migration, history)
        if migration.repair is not None:
            findings += _refusals(
                migration.repair, _history_with(migration.supersedes, migration, migrations)
            )
    return findings


def _history_with(wrong: Collection[int], until: Migration, migrations: Sequence[Migration]) -> History:
    """The history of a shard that has these superseded migrations."""
    skipped = superseded_numbers(migrations) - set(wrong)
    history = History()
    for migration in migrations:
        if migration.number < until.number and migration.number not in skipped:
            list(_findings(migration, history))
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
    for line, message in tables.missing_keys(history):
        yield Finding(migration.path, line, "missing-primary-key", message)
