"""Lint rules for names: a migration only changes the schema that search_path names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shardwright.migrations.linter.history import History
from shardwright.migrations.linter.tables import Found
from shardwright.migrations.sql_parser import Node, Statement

# Schemas that mean the same thing on every server.
_SHARED_SCHEMAS = {"pg_catalog", "information_schema", "common", "shardwright"}
_QUALIFIED_LISTS = {"names", "funcname", "objname", "defnames", "typeName", "domainname", "opclass"}
_ONCE_PER_SERVER = {
    "CreateSchemaStmt": "a schema",
    "CreateExtensionStmt": "an extension",
    "CreateRoleStmt": "a role",
    "CreatePublicationStmt": "a publication",
    "CreateSubscriptionStmt": "a subscription",
    "CreatedbStmt": "a database",
    "CreateEventTrigStmt": "an event trigger",
    "CreateForeignServerStmt": "a foreign server",
    "AlterSystemStmt": "a server setting",
}
_PARTS_OF_TABLES = {"OBJECT_COLUMN", "OBJECT_TABCONSTRAINT", "OBJECT_TRIGGER", "OBJECT_POLICY", "OBJECT_RULE"}
_SHARD_IN_TEXT = re.compile(r"\bs\d{4}\s*\.")


def check_names(statement: Statement, _history: History) -> Iterator[Found]:
    """Names must not be qualified with a schema that differs from shard to shard."""
    for schema, name in sorted(set(_qualified(statement.node))):
        if schema not in _SHARED_SCHEMAS:
            yield "qualified-name", f"{schema}.{name} names its schema"
    body = _body(statement.node)
    if (match := _SHARD_IN_TEXT.search(body)) is not None:
        yield "qualified-name", f"a body names the shard {match[0].rstrip(' .')}"


def _qualified(tree: Node) -> Iterator[tuple[str, str]]:
    # DROP and COMMENT spell a part of a table as (schema,) table, part.
    has_part = (tree.text("removeType") or tree.text("objtype")) in _PARTS_OF_TABLES
    for node in tree.walk():
        if node.has("schemaname"):
            yield node.text("schemaname"), node.text("relname")
        lists = [
            node.strings(field) for field in _QUALIFIED_LISTS if isinstance(node.fields.get(field), list)
        ]
        if node.kind == "List":
            lists.append(node.strings("items")[: -1 if has_part else None])
        for parts in lists:
            if len(parts) > 1:
                yield parts[0], parts[-1]


def _body(node: Node) -> str:
    parts = node.children("options") if node.kind == "CreateFunctionStmt" else node.children("args")
    bodies = [part for part in parts if part.text("defname") == "as"]
    return "\n".join(text.text("sval") for body in bodies for text in body.walk() if text.kind == "String")


def check_foreign_keys(statement: Statement, history: History) -> Iterator[Found]:
    """A shard's foreign keys must refer to its own tables."""
    if history.migration is None or history.migration.kind != "shard":
        return
    for node in statement.node.walk():
        if node.kind != "Constraint" or node.text("contype") != "CONSTR_FOREIGN":
            continue
        schema, name = node.child("pktable").text("schemaname"), node.child("pktable").text("relname")
        if not schema and name in history.shared_tables - history.tables:
            schema = "common"
        if schema:
            yield "foreign-key-outside-the-shard", f"a foreign key refers to {schema}.{name}"


def check_place(statement: Statement, history: History) -> Iterator[Found]:
    """Objects that exist once per server must not be created in a shard migration."""
    kind = _ONCE_PER_SERVER.get(statement.node.kind)
    if kind is not None and history.migration is not None and history.migration.kind == "shard":
        yield "outside-the-shard", f"{kind} in a shard migration"


def check_settings(statement: Statement, _history: History) -> Iterator[Found]:
    """Settings must be local to the transaction, and search_path must not be changed."""
    node = statement.node
    if node.kind != "VariableSetStmt":
        return
    if not node.has("is_local") or node.text("name") in {"search_path", "session_replication_role", "role"}:
        yield "session-setting", f"{node.text('name') or 'RESET ALL'} is set"
