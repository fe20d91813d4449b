"""Migration files: loading and validating a migrations folder.

A folder holds `shard/NNNN_name.sql` (applied inside every shard's schema) and `server/NNNN_name.sql` (applied
once per server, inside the schema `common`). Wrong names, numbers and headers are refused here, so
that the code that talks to servers only sees a valid, ordered list.

A file that says `-- supersedes: 0007` replaces one that turned out wrong after some shards got it. Beside it lies
`NNNN_name.repair.sql`, which is applied instead to the shards that have (or began) the wrong one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from shardwright.errors import MigrationRefused

Kind = Literal["server", "shard"]

_FILE_NAME = re.compile(r"(?P<number>\d{4})_(?P<name>[a-z0-9]+(?:_[a-z0-9]+)*)(?P<repair>\.repair)?\.sql")
_HEADER = re.compile(
    r"--\s*(?P<key>no-transaction|statement-timeout|supersedes(?=:)|waive)\b:?\s*(?P<value>.*?)\s*"
)
_SUPERSEDED = re.compile(r"(?P<number>\d{4})(?:_[a-z0-9_]+)?")
_WAIVER = re.compile(r"(?P<rule>[a-z-]+)\s+because\s+(?P<reason>\S.*)")
_DURATION = re.compile(r"\d+\s*(?:ms|s|min|h)")


@dataclass(frozen=True)
class Waiver:
    """A lint rule that a file waives, and the reason."""

    rule: str
    reason: str
    line: int


@dataclass(frozen=True)
class Migration:
    """One migration file: its SQL, whether it runs in a transaction, and the checksum that reveals later edits."""

    kind: Kind
    number: int
    name: str
    sql: str
    checksum: str
    path: Path
    is_transactional: bool = True
    statement_timeout: str | None = None
    waivers: tuple[Waiver, ...] = ()
    supersedes: tuple[int, ...] = ()
    """The numbers of earlier files that are wrong, and that no shard gets any more."""
    repair: Migration | None = None
    """Applied in place of this file to shards that have one of those it supersedes."""
    is_repair: bool = False

    def __str__(self) -> str:
        return f"{self.kind}/{self.number:04}_{self.name}{'.repair' if self.is_repair else ''}"


@dataclass(frozen=True)
class Folder:
    """All migrations of an application, in the order in which they are applied."""

    server: tuple[Migration, ...]
    shard: tuple[Migration, ...]

    @classmethod
    def load(cls, path: Path) -> Folder:
        """Load both kinds; a missing sub-folder means that there are none of that kind."""
        if not (path / "shard").is_dir() and not (path / "server").is_dir():
            raise MigrationRefused(f"{path} holds neither shard/ nor server/: is it the migrations folder?")
        return cls(server=_load_kind(path, "server"), shard=_load_kind(path, "shard"))

    def of(self, kind: Kind) -> tuple[Migration, ...]:
        """The migrations of one kind."""
        return self.server if kind == "server" else self.shard


def _load_kind(folder: Path, kind: Kind) -> tuple[Migration, ...]:
    home = folder / kind
    if not home.is_dir():
        return ()
    migrations = read_migrations(sorted(home.glob("*.sql")), kind)
    _refuse_gaps(migrations)
    return tuple(migrations)


def read_migrations(paths: Sequence[Path], kind: Kind) -> list[Migration]:
    """Read files in their order, each repair together with the file that it belongs to."""
    files = [read_migration(path, kind) for path in paths]
    repairs = {(each.number, each.name): each for each in files if each.is_repair}
    migrations = [
        replace(each, repair=repairs.pop((each.number, each.name), None))
        for each in files
        if not each.is_repair
    ]
    for repair in repairs.values():
        raise MigrationRefused(f"{repair} belongs to no file: it is the repair of {str(repair)[:-7]}.sql")
    _refuse_wrong_supersedes(migrations)
    return migrations


def _refuse_wrong_supersedes(migrations: Sequence[Migration]) -> None:
    by_number = {each.number: each for each in migrations}
    for migration in migrations:
        if bool(migration.supersedes) != (migration.repair is not None):
            file = migration.path.with_suffix(".repair.sql").name
            raise MigrationRefused(
                f"{migration}: `-- supersedes: NNNN` and {file} belong together; the repair brings the shards that "
                "have the wrong file to the same schema"
            )
        if migration.repair is not None and migration.repair.supersedes:
            raise MigrationRefused(f"{migration.repair}: only {migration} itself says what it supersedes")
        for number in migration.supersedes:
            wrong = by_number.get(number)
            if wrong is None or number >= migration.number:
                raise MigrationRefused(
                    f"{migration} supersedes {number:04}, which is no earlier file: keep the wrong file, unchanged"
                )
            # Else a shard that has only the first of the chain would get no repair.
            if missing := set(wrong.supersedes) - set(migration.supersedes):
                listed = ", ".join(f"{each:04}" for each in sorted({*migration.supersedes, *missing}))
                raise MigrationRefused(
                    f"{migration} supersedes {wrong}, which supersedes others: write `-- supersedes: {listed}`"
                )


def _refuse_gaps(migrations: Sequence[Migration]) -> None:
    for expected, migration in enumerate(migrations, start=1):
        if migration.number == expected:
            continue
        before = migrations[expected - 2] if expected > 1 else None
        if before is not None and before.number == migration.number:
            raise MigrationRefused(f"{before} and {migration} share a number: renumber the newer one")
        raise MigrationRefused(f"{migration} comes where number {expected:04} was expected: close the gap")


def read_migration(path: Path, kind: Kind) -> Migration:
    """Read one file with its headers; raises when its name or a header is invalid."""
    match = _FILE_NAME.fullmatch(path.name)
    if match is None:
        raise MigrationRefused(f"{path}: a migration is named like 0042_add_captions.sql")
    # Line endings differ between checkouts; the migration does not.
    text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
    headers = _Headers.read(text, path)
    return Migration(
        kind=kind,
        number=int(match["number"]),
        name=match["name"],
        sql=text,
        checksum=_checksum(text),
        path=path,
        is_transactional=headers.is_transactional,
        statement_timeout=headers.statement_timeout,
        waivers=tuple(headers.waivers),
        supersedes=headers.supersedes,
        is_repair=match["repair"] is not None,
    )


def _checksum(text: str) -> str:
    # A waiver changes nothing that is applied, and may have to be added years later for a new rule.
    lines = [line for line in text.split("\n") if not _is_waiver(line)]
    return hashlib.sha256("\n".join(lines).strip().encode()).hexdigest()


def _is_waiver(line: str) -> bool:
    match = _HEADER.fullmatch(line.strip())
    return match is not None and match["key"] == "waive"


@dataclass
class _Headers:
    waivers: list[Waiver]
    is_transactional: bool = True
    statement_timeout: str | None = None
    supersedes: tuple[int, ...] = ()

    @classmethod
    def read(cls, text: str, path: Path) -> _Headers:
        headers = cls(waivers=[])
        for line_number, line in enumerate(text.split("\n"), start=1):
            match = _HEADER.fullmatch(line.strip())
            if match is not None:
                headers.set(match["key"], match["value"], f"{path}:{line_number}", line_number)
        return headers

    def set(self, key: str, value: str, where: str, line: int) -> None:
        if key == "no-transaction":
            self.is_transactional = False
        elif key == "statement-timeout":
            if _DURATION.fullmatch(value) is None:
                raise MigrationRefused(f"{where}: write `-- statement-timeout: 30min`, with ms, s, min or h")
            self.statement_timeout = value
        elif key == "supersedes":
            named = [_SUPERSEDED.fullmatch(each.strip()) for each in value.split(",")]
            if None in named:
                raise MigrationRefused(
                    f"{where}: write `-- supersedes: 0007`, or several numbers with commas"
                )
            self.supersedes = tuple(int(each["number"]) for each in named if each is not None)
        else:
            match = _WAIVER.fullmatch(value)
            if match is None:
                raise MigrationRefused(f"{where}: write `-- waive: <rule> because <reason>`, with a reason")
            self.waivers.append(Waiver(match["rule"], match["reason"], line))
