"""SQL lexer: splits SQL into tokens, just finely enough to tell names and parameters from strings and comments.

PostgreSQL's own parser decides what a statement means; this must only never mistake `'12:30'`, `x::text`,
`a[1:n]`, a comment or a dollar-quoted body for a parameter.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from shardwright.errors import SetupInvalid

_TOKEN = re.compile(
    r"""
      (?P<comment>--[^\n]*)
    | (?P<block>/\*)
    | (?P<dollar>\$(?:[^\W\d]\w*)?\$)
    | (?P<position>\$\d+)
    | (?P<string>[eE]'(?:[^'\\]|''|\\.)*' | (?:[bBxXnN]|[uU]&)?'(?:[^']|'')*')
    | (?P<quoted>(?:[uU]&)?"(?:[^"]|"")*")
    | (?P<word>[^\W\d][\w$]*)
    | (?P<number>\d[\w.]*)
    | (?P<cast>::|:=)
    | (?P<parameter>:[^\W\d]\w*)
    | (?P<space>\s+)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_BLOCK_EDGE = re.compile(r"/\*|\*/")
# After one of these a colon is the middle of an array slice, a[lo:hi].
_BEFORE_SLICE = frozenset({"word", "number", "position", "quoted"})


class Token(NamedTuple):
    """A token of SQL; all tokens joined are the SQL again."""

    kind: str
    text: str


def tokenize(sql: str) -> Iterator[Token]:
    """Yield the tokens of some SQL, including comments and white space."""
    position, before = 0, Token("space", "")
    while position < len(sql):
        token = _next_token(sql, position)
        if token.kind == "parameter" and (before.kind in _BEFORE_SLICE or before.text in {")", "]"}):
            token = Token("other", ":")
        if token.text in {"'", '"'}:
            raise SetupInvalid(f"a quote is never closed: {sql[position : position + 40]!r}")
        yield token
        position += len(token.text)
        before = token


def _next_token(sql: str, position: int) -> Token:
    match = _TOKEN.match(sql, position)
    if match is None or match.lastgroup is None:  # the last alternative takes any character
        raise AssertionError(sql[position])
    kind, text = match.lastgroup, match.group()
    if kind == "block":
        return Token("comment", sql[position : _end_of_block(sql, match.end())])
    if kind == "dollar":
        end = sql.find(text, match.end())
        if end < 0:
            raise SetupInvalid(f"{text} is never closed")
        return Token("string", sql[position : end + len(text)])
    return Token(kind, text)


def _end_of_block(sql: str, position: int) -> int:
    """Position after the end of a block comment; PostgreSQL nests them."""
    depth = 1
    for edge in _BLOCK_EDGE.finditer(sql, position):
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            return edge.end()
    raise SetupInvalid("a block comment is never closed")
