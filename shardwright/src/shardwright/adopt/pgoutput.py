"""Decodes messages of PostgreSQL's output plugin `pgoutput`, protocol version 1, with values as text.

https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html
"""

import struct
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from shardwright.adopt.errors import AdoptFailed


class Missing(Enum):
    """Stands for a large value that an UPDATE did not change, and that is not sent with it."""

    UNCHANGED = "unchanged"


Value = bytes | None | Missing
Values = tuple[Value, ...]


@dataclass(frozen=True)
class Begin:
    """A transaction begins; its xid has 32 bits."""

    xid: int


@dataclass(frozen=True)
class Commit:
    """The transaction has ended; the next one's commit lies at `end_lsn` or later."""

    end_lsn: int


@dataclass(frozen=True)
class Relation:
    """The names that values of a table's rows have from here on."""

    oid: int
    schema: str
    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class RowChange:
    """A row was inserted (only `new`), changed (`old` where its key changed) or deleted (only `old`)."""

    kind: Literal["insert", "update", "delete"]
    oid: int
    old: Values | None
    new: Values | None


@dataclass(frozen=True)
class Truncate:
    """Tables were emptied."""

    oids: tuple[int, ...]


Message = Begin | Commit | Relation | RowChange | Truncate


def decode(data: bytes) -> Message | None:  # noqa: PLR0911 - one for each kind
    """The message; None for those that an adoption has no use for (types, origins)."""
    kind, reader = data[:1], _Reader(data)
    match kind:
        case b"B":
            reader.skip(16)
            return Begin(reader.number(">I", 4))
        case b"C":
            reader.skip(9)
            return Commit(reader.number(">Q", 8))
        case b"R":
            return _relation(reader)
        case b"I":
            return _insert(reader)
        case b"U":
            return _update(reader)
        case b"D":
            oid = reader.number(">I", 4)
            reader.skip(1)
            return RowChange("delete", oid, reader.values(), None)
        case b"T":
            count = reader.number(">I", 4)
            reader.skip(1)
            return Truncate(tuple(reader.number(">I", 4) for _ in range(count)))
        case b"Y" | b"O" | b"M":
            return None
        case _:
            raise AdoptFailed(f"the old database sent a message of unknown kind {kind!r}")


def _insert(reader: "_Reader") -> RowChange:
    oid = reader.number(">I", 4)
    reader.skip(1)
    return RowChange("insert", oid, None, reader.values())


def _update(reader: "_Reader") -> RowChange:
    oid, old = reader.number(">I", 4), None
    if reader.byte() in b"KO":
        old = reader.values()
        reader.skip(1)
    return RowChange("update", oid, old, reader.values())


def _relation(reader: "_Reader") -> Relation:
    oid = reader.number(">I", 4)
    schema, name = reader.text(), reader.text()
    reader.skip(1)
    columns: list[str] = []
    for _ in range(reader.number(">H", 2)):
        reader.skip(1)
        columns.append(reader.text())
        reader.skip(8)
    return Relation(oid, schema or "pg_catalog", name, tuple(columns))


class _Reader:
    """Reads one message from its second byte on."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 1

    def skip(self, size: int) -> None:
        self._at += size

    def number(self, form: str, size: int) -> int:
        (value,) = struct.unpack_from(form, self._data, self._at)
        self._at += size
        return value

    def byte(self) -> bytes:
        self._at += 1
        return self._data[self._at - 1 : self._at]

    def text(self) -> str:
        end = self._data.index(0, self._at)
        found = self._data[self._at : end].decode()
        self._at = end + 1
        return found

    def values(self) -> Values:
        found: list[Value] = []
        for _ in range(self.number(">H", 2)):
            kind = self.byte()
            if kind == b"n":
                found.append(None)
            elif kind == b"u":
                found.append(Missing.UNCHANGED)
            else:
                size = self.number(">I", 4)
                found.append(self._data[self._at : self._at + size])
                self._at += size
        return tuple(found)
