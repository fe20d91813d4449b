"""SQL parser: PostgreSQL's own grammar, wrapped in a plain tree.

The parser is libpg_query, through postgast. It is loaded on first use, because that takes 0.4 s and neither routing
nor a migrator with nothing to do needs it. Its protobuf classes stay in this module; the linter sees `Node`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from shardwright.errors import MigrationRefused


class SyntaxRefused(MigrationRefused):
    """PostgreSQL's grammar rejects the file."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


@dataclass(frozen=True)
class Node:
    """One node of a parse tree; `kind` is PostgreSQL's name for it, empty where the parent's field implies it."""

    kind: str
    fields: Mapping[str, Any]  # Any: PostgreSQL's tree has some 270 shapes; the accessors below narrow them

    def text(self, name: str) -> str:
        """The text of a field (a name or an enum value), empty when absent."""
        return str(self.fields.get(name, ""))

    def has(self, name: str) -> bool:
        """Whether a flag is set, or a field is present."""
        return bool(self.fields.get(name, False))

    def child(self, name: str) -> Node:
        """The node in that field; a node without fields when there is none."""
        return _node(self.fields.get(name, {}))

    def children(self, name: str) -> list[Node]:
        """The nodes of a list, in order."""
        return [_node(item) for item in cast("list[Any]", self.fields.get(name, []))]

    def strings(self, name: str) -> list[str]:
        """A list of names, such as a qualified name or the columns of a key."""
        return [item.text("sval") for item in self.children(name) if item.kind == "String"]

    def walk(self) -> Iterator[Node]:
        """Yield this node and all below it, parents first."""
        yield self
        for value in self.fields.values():
            for item in cast("list[Any]", value) if isinstance(value, list) else [value]:
                if isinstance(item, dict):
                    yield from _node(cast("dict[str, Any]", item)).walk()


def _node(value: Mapping[str, Any]) -> Node:
    # The parser wraps a node of open kind as {"CreateStmt": {…}}; field names begin in lower case.
    if len(value) == 1:
        ((kind, fields),) = value.items()
        if kind[0].isupper():
            return Node(kind, cast("Mapping[str, Any]", fields))
    return Node("", value)


@dataclass(frozen=True)
class Statement:
    """One statement of a file and the line on which it begins."""

    sql: str
    line: int
    node: Node

    @property
    def is_concurrent(self) -> bool:
        """Whether it says CONCURRENTLY, and so cannot run inside a transaction."""
        if self.node.kind in {"IndexStmt", "DropStmt", "RefreshMatViewStmt"}:
            return self.node.has("concurrent")
        if self.node.kind == "ReindexStmt":
            return any(part.text("defname") == "concurrently" for part in self.node.children("params"))
        return any(command.child("def").has("concurrent") for command in self.node.children("cmds"))


def parse(sql: str) -> list[Statement]:
    """Parse the statements of a file; `SyntaxRefused` has the line of the error."""
    import postgast  # noqa: PLC0415 - 0.4 s: paid only by those who parse
    from google.protobuf import json_format  # noqa: PLC0415 - slow to import: paid only by those who need it

    raw = sql.encode()
    try:
        tree = postgast.parse(sql)
    except postgast.PgQueryError as error:
        line = raw[: max(error.cursorpos - 1, 0)].count(b"\n") + 1
        raise SyntaxRefused(error.message, line) from None
    statements: list[Statement] = []
    for part in tree.stmts:
        # The parser leaves out blanks and comments before a statement, and the length of the last one.
        start = part.stmt_location
        end = start + part.stmt_len if part.stmt_len else len(raw)
        fields = json_format.MessageToDict(part.stmt)
        line = raw[:start].count(b"\n") + 1
        statements.append(Statement(raw[start:end].decode(), line, _node(fields)))
    return statements


def parse_do_block(statement: Statement) -> Mapping[str, Any] | None:
    """The tree of a DO block in PL/pgSQL, as PostgreSQL's own parser gives it; None when it cannot be parsed."""
    import postgast  # noqa: PLC0415 - 0.4 s: paid only by those who parse

    try:
        functions = cast("list[Mapping[str, Any]]", postgast.parse_plpgsql(statement.sql))
    except postgast.PgQueryError:
        return None
    # A block in another language has no action.
    return functions[0] if functions and "action" in functions[0]["PLpgSQL_function"] else None


def without_concurrently(statement: Statement) -> str:
    """The statement without CONCURRENTLY, for a schema that nobody uses yet; empty when nothing needs to be done.

    VACUUM and REINDEX have no effect there.
    """
    import postgast  # noqa: PLC0415 - slow to import: paid only by those who need it

    if statement.node.kind in {"VacuumStmt", "ReindexStmt"}:
        return ""
    if not statement.is_concurrent or statement.node.kind == "AlterTableStmt":
        return statement.sql  # detaching a partition concurrently has no plain form, see `has_plain_form`
    tree = postgast.parse(statement.sql)
    # Any: protobuf ships no types for its own base classes.
    root = cast("Any", tree.stmts[0].stmt)
    getattr(root, root.WhichOneof("node")).concurrent = False
    return postgast.deparse(tree)


def has_plain_form(statement: Statement) -> bool:
    """Whether the statement without CONCURRENTLY does exactly the same.

    A partition that is detached concurrently keeps its bounds as a CHECK; detached plainly, it does not.
    """
    return not (statement.is_concurrent and statement.node.kind == "AlterTableStmt")
