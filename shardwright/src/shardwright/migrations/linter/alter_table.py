"""Lint rules for ALTER TABLE: changes that rewrite or scan an existing table under a lock."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from shardwright.migrations.linter.history import History, not_null_column
from shardwright.migrations.linter.tables import Found, type_of
from shardwright.migrations.sql_parser import Node, Statement

# Evaluated once for all rows when a column is added. Functions not listed count as volatile.
_STABLE_FUNCTIONS = {
    "now",
    "transaction_timestamp",
    "statement_timestamp",
    "timezone",
    "date_trunc",
    "to_timestamp",
    "make_date",
    "make_interval",
    "lower",
    "upper",
    "length",
    "md5",
    "abs",
    "round",
    "concat",
    "current_setting",
    "jsonb_build_object",
    "jsonb_build_array",
    "json_build_object",
    "json_build_array",
    "array_fill",
    "decode",
    "to_jsonb",
}

_BLOCKING = {
    "AT_SetLogged": "SET LOGGED rewrites the table",
    "AT_SetUnLogged": "SET UNLOGGED rewrites the table",
    "AT_SetTableSpace": "SET TABLESPACE copies the table",
    "AT_SetAccessMethod": "SET ACCESS METHOD rewrites the table",
    "AT_AttachPartition": "ATTACH PARTITION scans the partition, unless a CHECK says the same as its bound",
}
_GUARD_OFF = {"AT_DisableTrig", "AT_DisableTrigAll", "AT_DisableTrigUser"}


def check_alter(statement: Statement, history: History) -> Iterator[Found]:
    """Check all commands of an ALTER TABLE."""
    node = statement.node
    if node.kind != "AlterTableStmt" or node.text("objtype") != "OBJECT_TABLE":
        return
    table = node.child("relation").text("relname")
    for command in node.children("cmds"):
        if command.text("subtype") in _GUARD_OFF:
            yield "guard-off", f"triggers of {table} are disabled"
        if not history.is_new(table):
            yield from _check_command(table, command, history)


def _check_command(table: str, command: Node, history: History) -> Iterator[Found]:
    subtype = command.text("subtype")
    check = _CHECKS.get(subtype)
    if check is not None:
        yield from check(table, command, history)
    if subtype in _BLOCKING:
        yield "blocking-statement", f"{_BLOCKING[subtype]} ({table})"
    if subtype == "AT_DetachPartition" and not command.child("def").has("concurrent"):
        yield "blocking-statement", f"DETACH PARTITION without CONCURRENTLY locks {table}"


def _add_column(table: str, command: Node, _history: History) -> Iterator[Found]:
    column = command.child("def")
    name = f"{table}.{column.text('colname')}"
    kinds = {part.text("contype"): part for part in column.children("constraints")}
    default = kinds.get("CONSTR_DEFAULT")
    if default is not None and not _is_stable(default.child("raw_expr")):
        yield "volatile-default", f"the default of {name} differs from row to row"
    if "CONSTR_IDENTITY" in kinds or type_of(column.child("typeName")).endswith("serial"):
        yield "volatile-default", f"{name} generates a number for every existing row"
    if "CONSTR_GENERATED" in kinds and kinds["CONSTR_GENERATED"].text("generated_kind") != "v":
        yield "type-rewrite", f"{name} is generated and stored, which writes every row"
    if "CONSTR_NOTNULL" in kinds and default is None:
        yield "not-null-unchecked", f"{name} is NOT NULL and has no default"
    for contype in kinds.keys() & {"CONSTR_CHECK", "CONSTR_FOREIGN"}:
        what = "a foreign key" if contype == "CONSTR_FOREIGN" else "a check"
        yield "constraint-not-valid", f"{name} comes with {what} that is validated at once"
    if kinds.keys() & {"CONSTR_PRIMARY", "CONSTR_UNIQUE"}:
        yield "unique-without-index", f"{name} builds a unique index"


def _is_stable(expression: Node) -> bool:
    for node in expression.walk():
        if node.kind == "FuncCall" and node.strings("funcname")[-1] not in _STABLE_FUNCTIONS:
            return False
        if node.kind in {"SubLink", "NextValueExpr"}:
            return False
    return True


def _change_type(table: str, command: Node, history: History) -> Iterator[Found]:
    column, wanted = command.text("name"), command.child("def").child("typeName")
    held = history.types.get((table, column))
    if held is None or command.child("def").has("raw_default") or not _is_widened(held, wanted):
        yield "type-rewrite", f"{table}.{column} becomes {type_of(wanted)}"


def _is_widened(held: Node, wanted: Node) -> bool:
    if type_of(held) != "varchar" or type_of(wanted) not in {"varchar", "text"}:
        return False
    limit, new_limit = _limit(held), _limit(wanted)
    return new_limit is None or (limit is not None and new_limit >= limit)


def _limit(type_name: Node) -> int | None:
    for part in type_name.children("typmods"):
        return int(part.child("ival").text("ival") or 0)
    return None


def _set_not_null(table: str, command: Node, history: History) -> Iterator[Found]:
    column = command.text("name")
    if not history.is_known_not_null(table, column):
        yield "not-null-unchecked", f"no validated constraint ensures yet that {table}.{column} is not null"


def _add_constraint(table: str, command: Node, _history: History) -> Iterator[Found]:
    constraint = command.child("def")
    kind = constraint.text("contype")
    name = constraint.text("conname") or "a constraint without a name"
    if kind in {"CONSTR_UNIQUE", "CONSTR_PRIMARY"} and not constraint.has("indexname"):
        yield "unique-without-index", f"{name} on {table} builds an index"
    elif kind == "CONSTR_EXCLUSION":
        yield (
            "blocking-statement",
            f"{name} on {table} builds an index while writes wait, and cannot be built concurrently",
        )
    elif constraint.has("skip_validation"):
        return
    elif kind == "CONSTR_NOTNULL" and not_null_column(constraint):
        yield "not-null-unchecked", f"{name} on {table} is not NOT VALID"
    elif kind in {"CONSTR_CHECK", "CONSTR_FOREIGN"}:
        yield "constraint-not-valid", f"{name} on {table} is validated at once"


def _validate(table: str, command: Node, history: History) -> Iterator[Found]:
    if (table, command.text("name")) in history.new_constraints:
        yield (
            "validate-with-add",
            f"{command.text('name')} on {table} is added and validated in one transaction",
        )


def _drop_column(table: str, command: Node, _history: History) -> Iterator[Found]:
    yield "breaks-previous-release", f"{table}.{command.text('name')} is dropped"


_CHECKS: dict[str, Callable[[str, Node, History], Iterator[Found]]] = {
    "AT_AddColumn": _add_column,
    "AT_AlterColumnType": _change_type,
    "AT_SetNotNull": _set_not_null,
    "AT_AddConstraint": _add_constraint,
    "AT_ValidateConstraint": _validate,
    "AT_DropColumn": _drop_column,
}
