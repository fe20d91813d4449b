"""Statements inside DO blocks: what a block executes, directly or by EXECUTE, as far as it can be seen in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from shardwright.migrations.linter.history import History
from shardwright.migrations.linter.tables import Found
from shardwright.migrations.sql_parser import Node, Statement, SyntaxRefused, parse, parse_do_block

# What reads and writes rows, or changes only the session.
_NO_DDL = {
    "SelectStmt",
    "InsertStmt",
    "UpdateStmt",
    "DeleteStmt",
    "MergeStmt",
    "CallStmt",
    "VariableSetStmt",
    "VariableShowStmt",
    "NotifyStmt",
    "ExplainStmt",
    "LockStmt",
    "ConstraintsSetStmt",
    "TransactionStmt",
}
_DDL_WORD = r"(?:create|alter|drop|truncate|comment\s+on|reindex|grant|revoke|cluster|refresh)\b"
_DDL = re.compile(rf"\s*({_DDL_WORD}.*)", re.IGNORECASE | re.DOTALL)
# In a body that the parser of PL/pgSQL refuses: at the beginning of a statement, or of a string.
_DDL_IN_TEXT = re.compile(rf"(?:;|'|\b(?:begin|then|else|loop))\s*({_DDL_WORD}[^;']*)", re.IGNORECASE)
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_PLACEHOLDER = re.compile(r"%(?:\d+\$)?-?\d*([sIL%])")
_UNKNOWN = "unknown"
_SHOWN = 60


def check_do(statement: Statement, _history: History) -> Iterator[Found]:
    """A DO block must not contain DDL."""
    if statement.node.kind != "DoStmt":
        return
    for part in statements_in(statement):
        if part.node.kind not in _NO_DDL:
            yield "ddl-in-do", f"a DO block executes {_shown(part.sql)}"


def statements_in(statement: Statement) -> Iterator[Statement]:
    """The statements that a DO block executes; one that cannot be parsed has a node of the kind `Unknown`."""
    block = parse_do_block(statement)
    body = _body(statement.node)
    first_line = statement.line + statement.sql[: max(statement.sql.find(body), 0)].count("\n")
    if block is None:
        for match in _DDL_IN_TEXT.finditer(_COMMENT.sub(" ", body)):
            yield Statement(match[1], statement.line, Node("Unknown", {}))
        return
    for sql, line in _executed(block):
        yield from _parsed(sql, first_line + line - 1)


def _executed(tree: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """The texts that a block executes, with their lines."""
    is_opaque = False
    for kind, fields in _walk(tree):
        line = int(fields.get("lineno", 1))
        if kind == "PLpgSQL_stmt_execsql":
            yield _query(fields["sqlstmt"]), line
        elif kind in {"PLpgSQL_stmt_dynexecute", "PLpgSQL_stmt_dynfors"}:
            text = _rendered(_query(fields["query"]))
            is_opaque = is_opaque or text.strip() == _UNKNOWN
            yield text, line
        elif kind in {"PLpgSQL_stmt_commit", "PLpgSQL_stmt_rollback"}:
            yield kind.rpartition("_")[2], line
    if is_opaque:
        # It executes a variable: any text of the block may be in it.
        for kind, fields in _walk(tree):
            if kind == "PLpgSQL_expr":
                for text in _texts(str(fields.get("query", ""))):
                    if _DDL.match(text):
                        yield text, 1


def _walk(tree: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:  # Any: the parser's JSON
    if isinstance(tree, dict):
        for kind, fields in cast("dict[str, Any]", tree).items():
            if kind.startswith("PLpgSQL_") and isinstance(fields, dict):
                yield kind, cast("dict[str, Any]", fields)
            yield from _walk(fields)
    elif isinstance(tree, list):
        for item in cast("list[Any]", tree):
            yield from _walk(item)


def _query(expression: Mapping[str, Any]) -> str:
    return str(expression["PLpgSQL_expr"]["query"])


def _parsed(sql: str, line: int) -> Iterator[Statement]:
    try:
        for part in parse(sql):
            yield Statement(part.sql, line, part.node)
    except SyntaxRefused:
        if _DDL.match(sql):
            yield Statement(sql, line, Node("Unknown", {}))


def _rendered(expression: str) -> str:
    """The text of an EXECUTE, with a placeholder for what is known only when it runs."""
    tree = _expression(expression)
    return _UNKNOWN if tree is None else _render(tree)


def _expression(text: str) -> Node | None:
    try:
        statements = parse(f"SELECT {text}")
    except SyntaxRefused:
        return None
    columns = [column for statement in statements for column in statement.node.children("targetList")]
    return columns[0].child("val") if columns else None


def _render(node: Node) -> str:
    if node.kind == "A_Const":
        return node.child("sval").text("sval")
    if node.kind == "TypeCast":
        return _render(node.child("arg"))
    if node.kind == "A_Expr" and node.strings("name") == ["||"]:
        return _render(node.child("lexpr")) + _render(node.child("rexpr"))
    if node.kind == "FuncCall":
        function, parts = node.strings("funcname")[-1], [_render(part) for part in node.children("args")]
        if function == "concat":
            return "".join(parts)
        if function == "format" and parts:
            return _PLACEHOLDER.sub(_fill, parts[0])
    return _UNKNOWN


def _fill(match: re.Match[str]) -> str:
    return {"%": "%", "L": "''"}.get(match[1], _UNKNOWN)


def _texts(expression: str) -> Iterator[str]:
    tree = _expression(expression.partition(":=")[2] or expression)
    for node in tree.walk() if tree is not None else ():
        if node.kind == "A_Const" and (text := node.child("sval").text("sval")):
            yield _PLACEHOLDER.sub(_fill, text)


def _body(node: Node) -> str:
    for part in node.children("args"):
        if part.text("defname") == "as":
            return part.child("arg").text("sval")
    return ""


def _shown(sql: str) -> str:
    words = " ".join(sql.split())
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]} …"
