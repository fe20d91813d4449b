"""Columns on their way from integer to bigint, and how far they are."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from shardwright.errors import SetupInvalid

PREFIX = "shardwright_wide_"
"""Names of everything that exists until the columns are exchanged begin like this."""
TRIGGER = "zzzz_shardwright_widen"
"""Row triggers fire in the order of their names: this one sees what the others have made of the row."""
_MAX_NAME = 63
_PARTS = re.compile(r'"(?:[^"]|"")+"|[^".]+')


class Step(StrEnum):
    """What is true of a widening that was begun, in order; journalled with the change that makes it true."""

    ADDED = "added"
    """New columns exist, and a trigger fills them for every row that is written."""
    FILLED = "filled"
    """Every row has its new columns."""
    READY = "ready"
    """Indexes and constraints of the new columns exist and were validated."""
    SWAPPED = "swapped"
    """The new columns have the names; the old ones remain until the widening is finished."""


def quote(name: str) -> str:
    """A name as an SQL identifier; always quoted, which is always right."""
    return '"{}"'.format(name.replace('"', '""'))


def own_name(*parts: str) -> str:
    """A name for something of this widening, the same every time."""
    return PREFIX + hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _suffixed(name: str, suffix: str) -> str:
    while len((name + suffix).encode()) > _MAX_NAME:
        name = name[:-1]
    return name + suffix


@dataclass(frozen=True, order=True)
class ColumnName:
    """A column, as people name it: `posts.id`, `public.posts.id`, `"Odd.Table".id`."""

    schema: str
    table: str
    column: str

    @classmethod
    def parse(cls, text: str, default_schema: str) -> "ColumnName":
        """Read TABLE.COLUMN or SCHEMA.TABLE.COLUMN."""
        parts = _PARTS.findall(text)
        if len(parts) not in {2, 3} or ".".join(parts) != text:
            raise SetupInvalid(f"{text!r} is not TABLE.COLUMN or SCHEMA.TABLE.COLUMN, such as posts.id")
        names = [part[1:-1].replace('""', '"') if part.startswith('"') else part for part in parts]
        return cls(names[0] if len(names) == 3 else default_schema, names[-2], names[-1])  # noqa: PLR2004 - with its schema

    def __str__(self) -> str:
        return f"{self.schema}.{self.table}.{self.column}"


@dataclass(frozen=True)
class Column:
    """A column that becomes bigint, with what must be the same of the new one."""

    name: ColumnName
    table: str
    """Its table as PostgreSQL prints it: qualified, and quoted where necessary."""
    table_oid: int
    number: int
    type: str
    is_not_null: bool

    @property
    def wide(self) -> str:
        """The name of the new column until it takes the old one's place."""
        return _suffixed(self.name.column, "__wide")

    @property
    def narrow(self) -> str:
        """The name of the old column from then on, until it is dropped."""
        return _suffixed(self.name.column, "__narrow")

    @property
    def placeholder(self) -> str:
        """A name that occurs nowhere else, for finding the column in definitions."""
        return own_name("placeholder", str(self.name))

    @property
    def not_null_check(self) -> str:
        """The name of the constraint that spares SET NOT NULL its scan."""
        return own_name("not null", str(self.name))


@dataclass(frozen=True)
class WidenOptions:
    """Limits of a widening."""

    lock_timeout_ms: int = 100
    """How long other transactions may wait behind an attempt to lock the tables."""
    lock_attempts: int = 200
    batch_ms: int = 100
    """Rows are filled in batches of about this length; the rows of a batch stay locked until it commits."""
    duty: float = 0.5
    """The share of time that filling works; the rest is left to others."""
    max_lag_bytes: int = 64 * 2**20
    """Filling waits while a standby or subscriber is further behind than this."""
    fire_triggers: bool = False
    """Fill rows although UPDATE triggers of the tables fire for each."""
    published: bool = False
    """Subscribers of the tables' publications were given the new columns, or need none."""


@dataclass(frozen=True)
class WidenProgress:
    """How far a widening is; `blocks` are 8 KB of the tables."""

    schema: str
    doing: str
    blocks: int = 0
    blocks_total: int = 0
    is_waiting_for_lag: bool = False


OnWidenProgress = Callable[[WidenProgress], None]


def no_progress(_: WidenProgress) -> None:
    """Ignore progress: the default of whoever reports it."""
