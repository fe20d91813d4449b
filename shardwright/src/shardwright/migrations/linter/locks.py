"""Lint rules for indexes, whole-table statements and removals: what blocks others or breaks the running release."""

from __future__ import annotations

from collections.abc import Iterator

from shardwright.migrations.linter.history import History
from shardwright.migrations.linter.tables import Found
from shardwright.migrations.sql_parser import Node, Statement

_OUTSIDE_TRANSACTIONS = {"VacuumStmt", "AlterSystemStmt", "CreatedbStmt", "DropdbStmt"}
_BREAKING_DROPS = {
    "OBJECT_TABLE": "table",
    "OBJECT_VIEW": "view",
    "OBJECT_MATVIEW": "materialized view",
    "OBJECT_FUNCTION": "function",
    "OBJECT_PROCEDURE": "procedure",
    "OBJECT_TYPE": "type",
    "OBJECT_SEQUENCE": "sequence",
    "OBJECT_SCHEMA": "schema",
}
_BREAKING_RENAMES = {"OBJECT_TABLE", "OBJECT_VIEW", "OBJECT_COLUMN", "OBJECT_TYPE", "OBJECT_FUNCTION"}


def check_indexes(statement: Statement, history: History) -> Iterator[Found]:
    """Indexes on existing tables must be built and dropped concurrently."""
    node, table = statement.node, statement.node.child("relation").text("relname")
    if node.kind == "IndexStmt":
        if not statement.is_concurrent and not history.is_new(table):
            yield "index-not-concurrent", f"an index on {table} is built while writes wait"
        if statement.is_concurrent and (not node.has("idxname") or node.has("if_not_exists")):
            yield "unrecoverable-index", f"the concurrent index on {table} cannot be found again"
    elif node.kind == "ReindexStmt" and not statement.is_concurrent:
        yield "index-not-concurrent", "REINDEX without CONCURRENTLY"
    elif node.text("removeType") == "OBJECT_INDEX" and not statement.is_concurrent:
        yield "index-not-concurrent", "DROP INDEX without CONCURRENTLY locks its table"


def check_transaction(statement: Statement, history: History) -> Iterator[Found]:
    """Statements that need a transaction and statements that cannot run in one must be in separate files."""
    node = statement.node
    if node.kind == "TransactionStmt":
        yield "transaction-control", f"{statement.sql.split(maxsplit=1)[0].upper()} inside a migration"
    is_transactional = history.migration is None or history.migration.is_transactional
    if is_transactional and statement.is_concurrent:
        yield "concurrent-in-transaction", "CONCURRENTLY in a file that runs in a transaction"
    if is_transactional and node.kind == "VacuumStmt" and node.has("is_vacuumcmd"):
        yield "concurrent-in-transaction", "VACUUM in a file that runs in a transaction"
    if not is_transactional and not (statement.is_concurrent or node.kind in _OUTSIDE_TRANSACTIONS):
        yield "mixed-no-transaction", "this statement can run inside a transaction"


def check_blocking(statement: Statement, history: History) -> Iterator[Found]:
    """No statement may hold a lock on a whole table for long."""
    node = statement.node
    options = {part.text("defname") for part in node.children("options")}
    if node.kind in {"LockStmt", "ClusterStmt"} or (node.kind == "VacuumStmt" and "full" in options):
        yield "blocking-statement", f"{' '.join(statement.sql.split()[:2]).upper()} holds a table exclusively"
    if node.kind == "RefreshMatViewStmt" and not statement.is_concurrent:
        yield "blocking-statement", "REFRESH MATERIALIZED VIEW without CONCURRENTLY keeps readers out"
    if node.kind == "TruncateStmt":
        tables = [part.text("relname") for part in node.children("relations")]
        if not all(history.is_new(table) for table in tables):
            yield "blocking-statement", f"TRUNCATE of {', '.join(tables)} keeps readers out and removes rows"
    if node.kind in {"UpdateStmt", "DeleteStmt"} and not node.has("whereClause"):
        table = node.child("relation").text("relname")
        if not history.is_new(table):
            yield "whole-table-write", f"every row of {table} is written in one statement"


def check_removals(statement: Statement, history: History) -> Iterator[Found]:
    """Nothing that the running release uses may be dropped or renamed."""
    node = statement.node
    kind = _BREAKING_DROPS.get(node.text("removeType")) if node.kind == "DropStmt" else None
    if kind is not None:
        for name in _dropped(node):
            if not history.is_new(name):
                yield "breaks-previous-release", f"{kind} {name} is dropped"
    if node.kind == "RenameStmt" and node.text("renameType") in _BREAKING_RENAMES:
        table = node.child("relation").text("relname")
        if not history.is_new(table):
            old = node.text("subname") or table or "a function or type"
            yield "breaks-previous-release", f"{old} is renamed to {node.text('newname')}"
    if node.kind == "AlterObjectSchemaStmt":
        yield "breaks-previous-release", f"something moves to schema {node.text('newschema')}"
    is_cascading = any(part.text("behavior") == "DROP_CASCADE" for part in [node, *node.children("cmds")])
    if is_cascading:
        yield "cascade", "CASCADE"


def _dropped(node: Node) -> Iterator[str]:
    for item in node.children("objects"):
        parts = (
            item.strings("items") or item.strings("objname") or item.strings("names") or [item.text("sval")]
        )
        yield parts[-1]
