"""Dispatch functions: one server-side function per named query, so that one statement serves every shard.

A client that writes `FROM s0042.posts` makes as many statements as there are shards, and statement caches on
both sides lose. Instead the router calls `shardwright.q_find_post_…(42, …)`, prepared once per connection, and
the function runs the query in the right schema.

Two kinds. The ordinary one builds the text and EXECUTEs it: planned anew each time, no memory kept. The `hot`
one holds the query once per shard, as static SQL in a binary tree of IFs, so that PL/pgSQL keeps each shard's
plan: no planning, at 25 KB per shard and query touched. Compiling such a tree takes some 15 µs per shard and
connection, so a hot function for single shards covers a block of 64, and connections serve whole blocks.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from shardwright.errors import SetupInvalid
from shardwright.ids import schema_name
from shardwright.running.queries import Query
from shardwright.running.scanning import Token, scan

# Part of every function's name: raise it when the text generated below changes.
GENERATION = 1
IDS = "ids"
COUNT_COLUMN = "shardwright_count"
ORDINARY = -1
BLOCK_BITS = 6


class Form(StrEnum):
    """What a dispatch function answers: one shard, or ids of many shards of a server."""

    POINT = "q"
    GATHER = "g"


@dataclass(frozen=True)
class Shape:
    """What PostgreSQL says a query is: its types, and its text with every name in full.

    `tokens` is that text; a token of kind `schema` stands for the shard's schema.
    """

    parameter_types: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    tokens: tuple[Token, ...]


class Wanted(NamedTuple):
    """A function a router wants: ordinary, or the part of a hot one.

    The part of a hot function for single shards is a block's number; that of one for many is how many shards
    it covers, counted from 0.
    """

    query: Query
    form: Form
    part: int = ORDINARY

    @property
    def covered(self) -> tuple[int, int]:
        """The shards a hot function knows, from the first to before the last."""
        if self.form is Form.GATHER:
            return 0, self.part
        return self.part << BLOCK_BITS, (self.part + 1) << BLOCK_BITS


def capacity_for(highest: int) -> int:
    """How many shards a hot gather covers: room to grow, so that adding a few shards makes no new function."""
    return max(1 << BLOCK_BITS, 1 << highest.bit_length())


def function_name(wanted: Wanted, shape: Shape) -> str:
    """A name that changes whenever what the function does changes."""
    query, form, part = wanted
    content = repr((GENERATION, form.value, query.writes, part, shape))
    return f"{form}_{query.name[:36]}_{hashlib.sha256(content.encode()).hexdigest()[:16]}"


def call_sql(function: str, wanted: Wanted, *, returns_rows: bool) -> str:
    """The one statement that serves all shards."""
    count = len(wanted.query.parameters) + (1 if wanted.form is Form.POINT else 2)
    arguments = ", ".join(f"${number}" for number in range(1, count + 1))
    called = f'shardwright."{function}"({arguments})'
    return f"SELECT * FROM {called}" if returns_rows else f"SELECT {called} AS {COUNT_COLUMN}"  # noqa: S608


def everywhere_sql(function: str, query: Query) -> str:
    """The statement that reads many shards in turn, telling which row came from where."""
    arguments = "".join(f", ${number}" for number in range(2, len(query.parameters) + 2))
    return (
        f"SELECT part.*, shard.number AS shard_number FROM unnest($1::integer[]) AS shard (number), "  # noqa: S608
        f'LATERAL shardwright."{function}"(shard.number{arguments}) AS part'
    )


def function_sql(function: str, wanted: Wanted, shape: Shape) -> str:
    """The statement that creates a dispatch function."""
    query = wanted.query
    if wanted.form is Form.GATHER:
        _check_gatherable(query, shape)
        leading, body = "integer[], integer[]", _gather_body(wanted, shape)
    else:
        leading, body = "integer", _point_body(wanted, shape)
    parameters = ", ".join([leading, *shape.parameter_types])
    columns = ", ".join(f"{_quote(name)} {kind}" for name, kind in shape.columns)
    returns = f"TABLE ({columns})" if shape.columns else "bigint"
    # PL/pgSQL plans a hot query's first five calls anew for each shard and connection. Forbidding that by a
    # setting of the function would cost 5 µs in every call for ever.
    volatility = "VOLATILE" if query.writes else "STABLE"
    # Columns of the result are variables of the function; a name in the query means the table's column.
    return (
        f'CREATE FUNCTION shardwright."{function}"({parameters}) RETURNS {returns} '
        f"LANGUAGE plpgsql {volatility} AS {_literal(f'#variable_conflict use_column{chr(10)}{body}')}"
    )


def _point_body(wanted: Wanted, shape: Shape) -> str:
    if wanted.part == ORDINARY:
        schema = "'s' || lpad($1::text, 4, '0')"
        using = _using(range(2, len(shape.parameter_types) + 2))
        run = f"EXECUTE {_text(shape.tokens, schema)}{using}"
        return f"DECLARE\n  _sw_count bigint;\nBEGIN\n  {_ending(run, shape)}\nEND\n"

    def leaf(number: int) -> str:
        return _ending(_static(shape.tokens, number, lambda position: f"${position + 1}"), shape)

    return f"DECLARE\n  _sw_count bigint;\nBEGIN\n{_tree('$1', *wanted.covered, leaf)}END\n"


def _gather_body(wanted: Wanted, shape: Shape) -> str:
    """Rows of several shards: $1 their numbers, $2 where each one's ids end, then the query's parameters."""
    ids = wanted.query.parameters.index(IDS) + 1
    if wanted.part != ORDINARY:
        return _hot_gather_body(wanted, shape, ids)
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


def _hot_gather_body(wanted: Wanted, shape: Shape, ids: int) -> str:
    def argument(position: int) -> str:
        return "_sw_part" if position == ids else f"${position + 2}"

    def leaf(number: int) -> str:
        return _ending(_static(shape.tokens, number, argument), shape)

    kind = shape.parameter_types[ids - 1]
    return f"""\
DECLARE
  _sw_part {kind};
  _sw_shard integer;
  _sw_start integer := 1;
BEGIN
  FOR _sw_i IN 1 .. cardinality($1) LOOP
    _sw_shard := $1[_sw_i];
    _sw_part := ${ids + 2}[_sw_start:$2[_sw_i]];
    _sw_start := $2[_sw_i] + 1;
{_tree("_sw_shard", *wanted.covered, leaf)}  END LOOP;
END
"""


def _tree(variable: str, low: int, high: int, leaf: Callable[[int], str]) -> str:
    """Find one shard among many in a dozen comparisons."""
    if high - low == 1:
        return f"{leaf(low)}\n"
    middle = (low + high) // 2
    left, right = _tree(variable, low, middle, leaf), _tree(variable, middle, high, leaf)
    return f"IF {variable} < {middle} THEN\n{left}ELSE\n{right}END IF;\n"


def _ending(run: str, shape: Shape) -> str:
    """Return the rows, or how many there were."""
    if shape.columns:
        return f"RETURN QUERY {run};"
    return f"{run}; GET DIAGNOSTICS _sw_count = ROW_COUNT; RETURN _sw_count;"


def _static(tokens: Sequence[Token], number: int, argument: Callable[[int], str]) -> str:
    """The query as it reads in one shard."""
    schema = schema_name(number)
    return "".join(
        schema if kind == "schema" else argument(int(text[1:])) if kind == "position" else text
        for kind, text in tokens
    )


def _text(tokens: Sequence[Token], schema: str, parts: dict[int, str] | None = None) -> str:
    """An expression whose value is the query's text, given expressions for the schema and some parameters."""
    pieces, literal = list[str](), ""
    for kind, text in tokens:
        hole = (
            schema if kind == "schema" else (parts or {}).get(int(text[1:])) if kind == "position" else None
        )
        if hole is None:
            literal += text
        else:
            pieces += [_literal(literal), hole]
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


def _check_gatherable(query: Query, shape: Shape) -> None:
    if IDS not in query.parameters or not shape.parameter_types[query.parameters.index(IDS)].endswith("[]"):
        raise SetupInvalid(
            f"query {query.name} cannot gather: it needs a parameter :{IDS}, as in id = ANY(:ids)"
        )
    if query.writes or not shape.columns:
        raise SetupInvalid(
            f"query {query.name} cannot gather: it writes; one write, one shard, one transaction"
        )


def full_tokens(text: str, sample: str) -> tuple[Token, ...]:
    """Tokens of a text in which every name is in full, with the sample shard's schema as a hole."""
    found = list(scan(text))
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
