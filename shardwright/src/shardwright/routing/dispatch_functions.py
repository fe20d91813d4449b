"""Dispatch functions: one server-side function per named query, so that one statement serves every shard.

A client that writes `FROM s0042.posts` produces as many statements as there are shards, which defeats statement
caches on both sides. Instead the router calls `shardwright.q_find_post_…(42, …)`, prepared once per connection, and
the function executes the query in the right schema.

The function builds the text and EXECUTEs it: planned each time, nothing cached. A query marked `hot` is instead
prepared on each connection once per shard: no planning, for memory of the backend (see `hot_statements`).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from shardwright.errors import SetupInvalid
from shardwright.routing.queries import Query
from shardwright.routing.sql_lexer import Token, tokenize

# Part of every function's name: increment it when the text generated below changes.
GENERATION = 2
IDS = "ids"
COUNT_COLUMN = "shardwright_count"


class FunctionKind(StrEnum):
    """What a dispatch function queries: one shard, or ids on many shards of a server."""

    POINT = "q"
    GATHER = "g"


@dataclass(frozen=True)
class QueryShape:
    """A query as PostgreSQL parsed it: its types, and its text with every name qualified.

    `tokens` is that text; a token of kind `schema` is a placeholder for the shard's schema.
    """

    parameter_types: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    tokens: tuple[Token, ...]

    @property
    def pieces(self) -> list[str]:
        """The text, split where the shard's schema belongs.

        PostgreSQL prints a parameter without the cast it had in the query, so each gets its type back: `unnest($1)`
        alone could mean any type.
        """
        pieces = [""]
        for kind, text in self.tokens:
            if kind == "schema":
                pieces.append("")
            elif kind == "position":
                pieces[-1] += f"({text}::{self.parameter_types[int(text[1:]) - 1]})"
            else:
                pieces[-1] += text
        return pieces


class FunctionKey(NamedTuple):
    """Identifies a dispatch function: a query and the kind of function."""

    query: Query
    form: FunctionKind


def function_name(wanted: FunctionKey, shape: QueryShape) -> str:
    """The function's name, which contains a hash of everything that determines its body."""
    query, form = wanted
    # Spelled out, not repr(shape): renaming the class must not rename functions that are installed on servers.
    described = f"Shape(parameter_types={shape.parameter_types!r}, columns={shape.columns!r}, tokens={shape.tokens!r})"
    content = f"({GENERATION}, {form.value!r}, {query.writes!r}, {described})"
    return f"{form}_{query.name[:36]}_{hashlib.sha256(content.encode()).hexdigest()[:16]}"


def call_sql(function: str, wanted: FunctionKey, *, returns_rows: bool) -> str:
    """The statement that calls the function; the same for all shards."""
    count = len(wanted.query.parameters) + (1 if wanted.form is FunctionKind.POINT else 2)
    arguments = ", ".join(f"${number}" for number in range(1, count + 1))
    called = f'shardwright."{function}"({arguments})'
    return f"SELECT * FROM {called}" if returns_rows else f"SELECT {called} AS {COUNT_COLUMN}"  # noqa: S608 - names come from the library, values are parameters


def everywhere_sql(function: str, query: Query) -> str:
    """The statement that reads many shards in turn, with each row's shard number."""
    arguments = "".join(f", ${number}" for number in range(2, len(query.parameters) + 2))
    return (
        f"SELECT part.*, shard.number AS shard_number FROM unnest($1::integer[]) AS shard (number), "  # noqa: S608 - names come from the library, values are parameters
        f'LATERAL shardwright."{function}"(shard.number{arguments}) AS part'
    )


def function_sql(function: str, wanted: FunctionKey, shape: QueryShape) -> str:
    """The statement that creates a dispatch function."""
    query = wanted.query
    if wanted.form is FunctionKind.GATHER:
        _check_gatherable(query, shape)
        leading, body = "integer[], integer[]", _gather_body(query, shape)
    else:
        leading, body = "integer", _point_body(shape)
    parameters = ", ".join([leading, *shape.parameter_types])
    columns = ", ".join(f"{_quote(name)} {kind}" for name, kind in shape.columns)
    returns = f"TABLE ({columns})" if shape.columns else "bigint"
    volatility = "VOLATILE" if query.writes else "STABLE"
    # Result columns are variables of the function; a name in the query must mean the table's column.
    return (
        f'CREATE FUNCTION shardwright."{function}"({parameters}) RETURNS {returns} '
        f"LANGUAGE plpgsql {volatility} AS {_literal(f'#variable_conflict use_column{chr(10)}{body}')}"
    )


def _point_body(shape: QueryShape) -> str:
    schema = "'s' || lpad($1::text, 4, '0')"
    using = _using(range(2, len(shape.parameter_types) + 2))
    run = f"EXECUTE {_text(shape.tokens, schema)}{using}"
    if shape.columns:
        return f"BEGIN\n  RETURN QUERY {run};\nEND\n"
    counted = "GET DIAGNOSTICS _sw_count = ROW_COUNT;\n  RETURN _sw_count;"
    return f"DECLARE\n  _sw_count bigint;\nBEGIN\n  {run};\n  {counted}\nEND\n"


def _gather_body(query: Query, shape: QueryShape) -> str:
    """UNION ALL over several shards: $1 their numbers, $2 where each one's ids end, then the query's parameters."""
    ids = query.parameters.index(IDS) + 1
    arm = _text(shape.tokens, "_sw_schema", {ids: "_sw_part"})
    return f"""\
DECLARE
  _sw_sql text := '';
  _sw_schema text;
  _sw_part text;
  _sw_start integer := 1;
BEGIN
  FOR _sw_i IN 1 .. cardinality($1) LOOP
    _sw_schema := 's' || lpad($1[_sw_i]::text, 4, '0');
    _sw_part := '(${ids}[' || _sw_start || ':' || $2[_sw_i] || '])';
    _sw_sql := _sw_sql || CASE WHEN _sw_i > 1 THEN ' UNION ALL ' ELSE '' END || '(' || {arm} || ')';
    _sw_start := $2[_sw_i] + 1;
  END LOOP;
  IF _sw_sql <> '' THEN
    RETURN QUERY EXECUTE _sw_sql{_using(range(3, len(shape.parameter_types) + 3))};
  END IF;
END
"""


def _text(tokens: Sequence[Token], schema: str, parts: dict[int, str] | None = None) -> str:
    """A PL/pgSQL expression that builds the query's text from expressions for the schema and some parameters."""
    pieces, literal = list[str](), ""
    for kind, text in tokens:
        placeholder = (
            schema if kind == "schema" else (parts or {}).get(int(text[1:])) if kind == "position" else None
        )
        if placeholder is None:
            literal += text
        else:
            pieces += [_literal(literal), placeholder]
            literal = ""
    return " || ".join([*pieces, _literal(literal)])


def _literal(text: str) -> str:
    tag = "$q$"
    while tag in text:
        tag = f"{tag[:-1]}q$"
    return f"{tag}{text}{tag}"


def _using(positions: Sequence[int]) -> str:
    listed = ", ".join(f"${position}" for position in positions)
    return f" USING {listed}" if listed else ""


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _check_gatherable(query: Query, shape: QueryShape) -> None:
    if IDS not in query.parameters or not shape.parameter_types[query.parameters.index(IDS)].endswith("[]"):
        raise SetupInvalid(
            f"query {query.name} cannot gather: it needs a parameter :{IDS}, as in id = ANY(:ids)"
        )
    if query.writes or not shape.columns:
        raise SetupInvalid(
            f"query {query.name} cannot gather: it writes, and a write goes to one shard in one transaction"
        )


def full_tokens(text: str, sample: str) -> tuple[Token, ...]:
    """Tokens of a text with qualified names, with the sample shard's schema replaced by a placeholder."""
    found = list(tokenize(text))
    tokens: list[Token] = []
    for token, following in zip(found, [*found[1:], Token("space", "")], strict=True):
        if token == Token("word", sample) and following.text == ".":
            tokens.append(Token("schema", ""))
        elif token.kind == "string" and following.kind == "cast" and token.text.startswith(f"'{sample}."):
            # A sequence or table named as a constant: 's0000.tick'::regclass.
            tokens += [
                Token("other", "'"),
                Token("schema", ""),
                Token("other", token.text[len(sample) + 1 :]),
            ]
        else:
            tokens.append(token)
    return tuple(tokens)
