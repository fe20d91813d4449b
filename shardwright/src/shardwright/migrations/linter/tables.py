"""Lint rules for tables: bigint ids from the shard, a primary key, logged."""

from __future__ import annotations

from collections.abc import Iterator

from shardwright.migrations.linter.history import History
from shardwright.migrations.sql_parser import Node, Statement

Found = tuple[str, str]

_NARROW_TYPES = {"int2", "int4", "serial", "serial2", "serial4", "smallserial"}
_WIDE_TYPES = {"int8", "bigserial", "serial8"}
_SERIAL_TYPES = {"serial", "serial2", "serial4", "serial8", "smallserial", "bigserial"}


def type_of(type_name: Node) -> str:
    """A type's name without the `pg_catalog` prefix."""
    return (type_name.strings("names") or [""])[-1]


def check_columns(statement: Statement, history: History) -> Iterator[Found]:
    """Ids, and columns that refer to them, must be bigint; ids must not come from a local sequence."""
    known = _Keys(statement, history)
    for table, column, is_key in _columns(statement.node):
        name, type_name = column.text("colname"), type_of(column.child("typeName"))
        is_id = _is_id(name) or is_key
        referred = "" if is_id else known.referred_to(table, name)
        if type_name in _NARROW_TYPES and (is_id or referred or type_name in _SERIAL_TYPES):
            refers = f" and refers to {referred}, which is bigint" if referred else ""
            yield "narrow-id", f"{table}.{name} is {_display_name(type_name)}{refers}"
        elif _uses_local_sequence(column, type_name) and _is_for_shards(history):
            yield "local-sequence", f"{table}.{name} is {_display_name(type_name)} with a sequence of its own"
    yield from _check_altered(statement.node, known, history)


def _check_altered(node: Node, known: _Keys, history: History) -> Iterator[Found]:
    table = node.child("relation").text("relname")
    for command in node.children("cmds"):
        column, definition = command.text("name"), command.child("def")
        type_name = type_of(definition.child("typeName"))
        if command.text("subtype") == "AT_AlterColumnType" and type_name in _NARROW_TYPES:
            if _is_id(column):
                yield "narrow-id", f"{column} becomes {_display_name(type_name)}"
            elif referred := known.referred_to(table, column):
                refers = f"and refers to {referred}, which is bigint"
                yield "narrow-id", f"{table}.{column} becomes {_display_name(type_name)} {refers}"
        if command.text("subtype") == "AT_AddConstraint":
            for name, referred in known.foreign_keys(definition):
                held = type_of(history.types.get((table, name), Node("", {})))
                if held in _NARROW_TYPES:
                    refers = f"and refers to {referred}, which is bigint"
                    yield "narrow-id", f"{table}.{name} is {_display_name(held)} {refers}"


def _is_id(name: str) -> bool:
    return name in {"id", "ids"} or name.endswith(("_id", "_ids"))


class _Keys:
    """The bigint keys of tables so far, including those of the statement itself."""

    def __init__(self, statement: Statement, history: History) -> None:
        own = History(types=dict(history.types), keys=dict(history.keys), tables=set(history.tables))
        own.add(statement)
        self._types, self._keys = own.types, own.keys
        self._references: dict[tuple[str, str], str] = {}
        table = statement.node.child("relation").text("relname")
        for column, constraint in _constraints(statement.node):
            for name, referred in self.foreign_keys(constraint, column):
                self._references[table, name] = referred

    def foreign_keys(self, constraint: Node, column: str = "") -> Iterator[tuple[str, str]]:
        """The columns of a foreign key that refer to a bigint, each with what it refers to."""
        if constraint.text("contype") != "CONSTR_FOREIGN":
            return
        table = constraint.child("pktable").text("relname")
        targets = constraint.strings("pk_attrs") or self._keys.get(table, [])
        for name, target in zip(constraint.strings("fk_attrs") or [column], targets, strict=False):
            if self._is_bigint(table, target):
                yield name, f"{table}.{target}"

    def referred_to(self, table: str, column: str) -> str:
        """The bigint key that a column refers to, by a foreign key or by its name; empty when there is none."""
        if (table, column) in self._references:
            return self._references[table, column]
        for other, key in self._keys.items():
            if len(key) == 1 and other != table and self._is_bigint(other, key[0]):
                singular = _singular(other)
                forms = {f"{part}{dash}{key[0]}" for part in (other, singular) for dash in ("_", "")}
                if column == singular or column in forms or (column == key[0] and key[0] != "id"):
                    return f"{other}.{key[0]}"
        return ""

    def _is_bigint(self, table: str, column: str) -> bool:
        held = self._types.get((table, column))
        return held is not None and type_of(held) in _WIDE_TYPES


def _constraints(node: Node) -> Iterator[tuple[str, Node]]:
    """The constraints that a statement adds, each with its column if it stands at one."""
    elements = [*node.children("tableElts"), *(command.child("def") for command in node.children("cmds"))]
    for element in elements:
        yield "", element
        for constraint in element.children("constraints"):
            yield element.text("colname"), constraint


def _singular(table: str) -> str:
    """The name of one row of a table; empty when the table's name is no plural."""
    for plural, singular in (
        ("ies", "y"),
        ("sses", "ss"),
        ("xes", "x"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("s", ""),
    ):
        if table.endswith(plural) and not table.endswith("ss"):
            return table.removesuffix(plural) + singular
    return ""


def _columns(node: Node) -> Iterator[tuple[str, Node, bool]]:
    table = node.child("relation").text("relname")
    if node.kind == "CreateStmt":
        elements = node.children("tableElts")
        keys = [part.strings("keys") for part in elements if part.text("contype") == "CONSTR_PRIMARY"]
        for column in (part for part in elements if part.kind == "ColumnDef"):
            yield table, column, _is_key(column) or [column.text("colname")] in keys
    elif node.kind == "AlterTableStmt":
        for command in node.children("cmds"):
            if command.text("subtype") == "AT_AddColumn":
                yield table, command.child("def"), _is_key(command.child("def"))


def _is_key(column: Node) -> bool:
    return any(part.text("contype") == "CONSTR_PRIMARY" for part in column.children("constraints"))


def _uses_local_sequence(column: Node, type_name: str) -> bool:
    is_identity = any(part.text("contype") == "CONSTR_IDENTITY" for part in column.children("constraints"))
    return is_identity or type_name in _SERIAL_TYPES


def _is_for_shards(history: History) -> bool:
    return history.migration is not None and history.migration.kind == "shard"


def _display_name(type_name: str) -> str:
    return {"int2": "smallint", "int4": "integer", "int8": "bigint"}.get(type_name, type_name)


def check_persistence(statement: Statement, _history: History) -> Iterator[Found]:
    """Tables must be logged, so that they survive a crash and a move."""
    node = statement.node
    relation = node.child("relation") if node.kind == "CreateStmt" else node.child("into").child("rel")
    if relation.text("relpersistence") == "u":
        yield "unlogged-table", f"{relation.text('relname')} is unlogged"


def missing_keys(history: History) -> Iterator[tuple[int, str]]:
    """The tables that a file creates without a primary key, with their lines."""
    for table, line in history.new_tables.items():
        if table not in history.keyed_tables:
            copied = (
                f": it is a copy of {history.copies[table]} without its key"
                if table in history.copies
                else ""
            )
            yield line, f"{table} has no primary key{copied}"
