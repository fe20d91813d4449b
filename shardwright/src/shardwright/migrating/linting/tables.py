"""Rules on what a table may look like: wide ids from the shard, a primary key, carried by replication."""

from __future__ import annotations

from collections.abc import Iterator

from shardwright.migrating.linting.history import History
from shardwright.migrating.parsing import Node, Statement

Found = tuple[str, str]

_NARROW = {"int2", "int4", "serial", "serial2", "serial4", "smallserial"}
_SERIAL = {"serial", "serial2", "serial4", "serial8", "smallserial", "bigserial"}


def type_of(type_name: Node) -> str:
    """A type's own name, without `pg_catalog` before it."""
    return (type_name.strings("names") or [""])[-1]


def check_columns(statement: Statement, history: History) -> Iterator[Found]:
    """Ids are bigint, and come from the shard."""
    for table, column, is_key in _columns(statement.node):
        name, type_name = column.text("colname"), type_of(column.child("typeName"))
        is_id = name == "id" or name.endswith("_id") or is_key
        if type_name in _NARROW and (is_id or type_name in _SERIAL):
            yield "narrow-id", f"{table}.{name} is {_spell(type_name)}"
        elif _draws_locally(column, type_name) and _is_for_shards(history):
            yield "local-sequence", f"{table}.{name} is {_spell(type_name)} with a sequence of its own"
    for command in statement.node.children("cmds"):
        column = command.text("name")
        narrowed = command.text("subtype") == "AT_AlterColumnType" and (
            column == "id" or column.endswith("_id")
        )
        type_name = type_of(command.child("def").child("typeName"))
        if narrowed and type_name in _NARROW:
            yield "narrow-id", f"{column} becomes {_spell(type_name)}"


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


def _draws_locally(column: Node, type_name: str) -> bool:
    is_identity = any(part.text("contype") == "CONSTR_IDENTITY" for part in column.children("constraints"))
    return is_identity or type_name in _SERIAL


def _is_for_shards(history: History) -> bool:
    return history.migration is not None and history.migration.kind == "shard"


def _spell(type_name: str) -> str:
    return {"int2": "smallint", "int4": "integer", "int8": "bigint"}.get(type_name, type_name)


def check_persistence(statement: Statement, _history: History) -> Iterator[Found]:
    """Every table survives a crash and a move."""
    node = statement.node
    relation = node.child("relation") if node.kind == "CreateStmt" else node.child("into").child("rel")
    if relation.text("relpersistence") == "u":
        yield "unlogged-table", f"{relation.text('relname')} is unlogged"


def missing_keys(history: History) -> Iterator[tuple[int, str]]:
    """The tables that a finished file leaves without a primary key, with the line that made each."""
    for table, line in history.new_tables.items():
        if table not in history.keyed_tables:
            yield line, f"{table} has no primary key"
