"""The net effect of transactions: for each row the state that it has after the last of them.

Only the last state counts: the side that follows is not read before it has everything. So the order of changes within
a batch does not matter to it, and a batch that was applied in part can be applied again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from shardwright.adopt.catalog import Table
from shardwright.adopt.errors import AdoptFailed
from shardwright.adopt.pgoutput import Missing, Relation, RowChange, Value, Values

Key = tuple[str, ...]
"""The values of a primary key, as text."""


@dataclass
class Row:
    """A row's values, in the order of the table's stored columns.

    `base` is the key under which the side that follows has the values that are not known, of a row that has such.
    """

    values: list[Value]
    base: Key | None = None
    is_new: bool = False
    """Whether the row did not exist before the batch."""

    @property
    def is_complete(self) -> bool:
        """Whether every value is known."""
        return Missing.UNCHANGED not in self.values


@dataclass
class TableChanges:
    """What a batch does to one table; None as a state means that the row is gone."""

    table: Table
    rows: dict[Key, Row | None] = field(default_factory=dict[Key, Row | None])
    is_emptied: bool = False
    """Whether everything that was there before the batch is gone."""

    def __post_init__(self) -> None:
        self._stored = self.table.stored
        self._key_at = [self._stored.index(name) for name in self.table.key]

    def key_of(self, row: Row) -> Key:
        """The row's primary key."""
        return tuple(_text(row.values[at]) for at in self._key_at)

    def value_of(self, row: Row, column: str) -> str | None:
        """A value of the row as text."""
        value = row.values[self._stored.index(column)]
        return None if value is None else _text(value)

    def add(self, relation: Relation, change: RowChange) -> None:
        """Take a change into account, the next one of this table."""
        old_key = None if change.old is None else self._key_in(relation, change.old)
        if change.new is None:
            if old_key is not None:
                self.rows[old_key] = None
            return
        row = Row(_arrange(relation, change.new, self._stored))
        key = self.key_of(row)
        old_key = old_key or key
        if change.kind == "insert":
            row.is_new = key not in self.rows and not self.is_emptied
        else:
            self._complete(row, old_key)
        if old_key != key:
            self.rows[old_key] = None
            row.is_new = False
        self.rows[key] = row

    def empty(self) -> None:
        """Take TRUNCATE into account."""
        self.rows.clear()
        self.is_emptied = True

    def _key_in(self, relation: Relation, values: Values) -> Key:
        arranged = _arrange(relation, values, list(self.table.key))
        return tuple(_text(value) for value in arranged)

    def _complete(self, row: Row, old_key: Key) -> None:
        """Fill what an UPDATE has not sent from what the batch knows already."""
        before = self.rows.get(old_key)
        if before is None:
            row.base = old_key
            return
        row.is_new = before.is_new
        row.base = before.base
        for position, value in enumerate(row.values):
            if value is Missing.UNCHANGED:
                row.values[position] = before.values[position]


class Batch:
    """The net effect of some transactions on the tables of a plan."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self._tables = tables
        self.by_table: dict[str, TableChanges] = {}
        self.markers: list[int] = []
        self.changes = 0

    def of(self, name: str) -> TableChanges:
        """The changes of one table."""
        if name not in self.by_table:
            self.by_table[name] = TableChanges(self._tables[name])
        return self.by_table[name]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to apply."""
        return not self.by_table


def _arrange(relation: Relation, values: Values, columns: list[str]) -> list[Value]:
    by_name = dict(zip(relation.columns, values, strict=True))
    if missing := [name for name in columns if name not in by_name]:
        raise AdoptFailed(
            f"{relation.schema}.{relation.name} was changed during the adoption: it has no column {missing[0]} now. "
            "Abort the adoption and start it again"
        )
    return [by_name[name] for name in columns]


def _text(value: Value) -> str:
    if not isinstance(value, bytes):
        raise AdoptFailed("a row came without its primary key: set REPLICA IDENTITY DEFAULT for its table")
    return value.decode()
