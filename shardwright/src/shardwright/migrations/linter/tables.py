"""Lint rules for tables: bigint ids from the shard, a primary key, logged."""

from __future__ import annotations

from collections.abc import Iterator

from shardwright.migrations.linter.history import History
from shardwright.migrations.sql_parser import Node, Statement

Found = tuple[str, str]

_NARROW_TYPES = {"int2", "int4", "serial", "serial2", "serial4", "smallserial"}
_SERIAL_TYPES = {"serial", "serial2", "serial4", "serial8", "smallserial", "bigserial"}


def type_of(type_name: Node) -> str:
    """A type's name without the `pg_catalog` prefix."""
    return (type_name.strings("names") or [""])[-1]


def check_columns(statement: Statement, history: History) -> Iterator[Found]:
    """Ids must be bigint and must not come from a local sequence."""
    for table, column, is_key in _columns(statement.node):
        name, type_name = column.text("colname"), type_of(column.child("typeName"))
        is_id = name == "id" or name.endswith("_id") or is_key
        if type_name in _NARROW_TYPES and (is_id or type_name in _SERIAL_TYPES):
            yield "narrow-id", f"{table}.{name} is {_display_name(type_name)}"
        elif _uses_local_sequence(column, type_name) and _is_for_shards(history):
            yield "local-sequence", f"{table}.{name} is {_display_name(type_name)} with a sequence of its own"
    for command in statement.node.children("cmds"):
        column = command.text("name")
        narrowed = command.text("subtype") == "AT_AlterColumnType" and (
            column == "id" or column.endswith("_id")
        )
        type_name = type_of(command.child("def").child("typeName"))
        if narrowed and type_name in _NARROW_TYPES:
            yield "narrow-id", f"{column} becomes {_display_name(type_name)}"


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
            yield line, f"{table} has no primary key"
