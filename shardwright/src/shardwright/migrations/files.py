"""Migration files: loading and validating a migrations folder.

A folder holds `shard/NNNN_name.sql` (applied inside every shard's schema) and `server/NNNN_name.sql` (applied
once per server, inside the schema `common`). Wrong names, numbers and headers are refused here, so
that the code that talks to servers only sees a valid, ordered list.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from shardwright.errors import MigrationRefused

Kind = Literal["server", "shard"]

_FILE_NAME = re.compile(r"(?P<number>\d{4})_(?P<name>[a-z0-9]+(?:_[a-z0-9]+)*)\.sql")
_HEADER = re.compile(r"--\s*(?P<key>no-transaction|statement-timeout|waive)\b:?\s*(?P<value>.*?)\s*")
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

    def __str__(self) -> str:
        return f"{self.kind}/{self.number:04}_{self.name}"


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
    migrations = [read_migration(path, kind) for path in sorted(home.glob("*.sql"))]
    _refuse_gaps(migrations)
    return tuple(migrations)


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
        else:
            match = _WAIVER.fullmatch(value)
            if match is None:
                raise MigrationRefused(f"{where}: write `-- waive: <rule> because <reason>`, with a reason")
            self.waivers.append(Waiver(match["rule"], match["reason"], line))
