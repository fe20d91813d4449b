"""Named SQL: statements live in `.sql` files, under a name, with named parameters.

    -- name: like
    -- One row per (post, person): liking twice returns no row.
    INSERT INTO likes (post_id, account_id) VALUES (:post_id, :account_id)
    ON CONFLICT DO NOTHING RETURNING post_id;

After the name may follow `hot` (each connection keeps it prepared for each shard: faster, for memory of the server)
or `writes` (it calls a function with side effects, so it is never retried automatically).

Columns are listed by name: `SELECT *` and `RETURNING *` are refused.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from shardwright.errors import SetupInvalid
from shardwright.routing.sql_lexer import Token, tokenize

_HEADER = re.compile(r"^--[ \t]*name:[ \t]*(?P<name>\S*)[ \t]*(?P<traits>[^\n]*)$", re.MULTILINE)
_TRAITS = frozenset({"hot", "writes"})
_READING = frozenset({"select", "with", "values", "table"})
_WRITING = frozenset({"insert", "update", "delete", "merge", "share"})  # `share`: FOR SHARE takes row locks

RESERVED = {"deadline_s": "the deadline of the call", "after_commit": "the hook of a call that writes"}
"""Arguments of every call, beside the query's parameters."""


@dataclass(frozen=True, eq=False)
class Query:
    """A named statement; `sql` has its parameters as $1, $2 …, in the order of `parameters`."""

    name: str
    sql: str
    parameters: tuple[str, ...]
    comment: str
    writes: bool
    is_hot: bool
    digest: str

    @classmethod
    def parse(cls, name: str, text: str, *, traits: frozenset[str] = frozenset()) -> Self:
        """Parse SQL with :named parameters."""
        if not name.isidentifier():
            raise SetupInvalid(f"a query's name must be an identifier, not {name!r}")
        if unknown := traits - _TRAITS:
            raise SetupInvalid(f"query {name}: unknown traits {sorted(unknown)}; there are {sorted(_TRAITS)}")
        tokens = _statement(name, text)
        writes = "writes" in traits or _writes(tokens)
        numbers: dict[str, int] = {}
        for token in tokens:
            if token.kind == "parameter":
                numbers.setdefault(token.text[1:], len(numbers) + 1)
        if taken := RESERVED.keys() & numbers.keys():
            raise SetupInvalid(
                f"query {name}: :{min(taken)} is {RESERVED[min(taken)]}, choose another name for the parameter"
            )
        sql = "".join(f"${numbers[t.text[1:]]}" if t.kind == "parameter" else t.text for t in tokens).strip()
        return cls(
            name=name,
            sql=sql,
            parameters=tuple(numbers),
            comment=_comment(text),
            writes=writes,
            is_hot="hot" in traits,
            digest=hashlib.sha256(sql.encode()).hexdigest()[:16],
        )

    def bind(self, params: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the arguments in the statement's order; raises when one is missing or unknown."""
        try:
            if len(params) == len(self.parameters):
                return tuple([params[name] for name in self.parameters])
        except KeyError:
            pass  # reported below, together with unknown parameters
        missing = [name for name in self.parameters if name not in params]
        extra = [name for name in params if name not in self.parameters]
        raise SetupInvalid(f"query {self.name}: missing parameters {missing}, unknown {extra}")


class Queries:
    """The queries of a file, as attributes: `queries.like`."""

    def __init__(self, queries: Mapping[str, Query]) -> None:
        self._queries = dict(queries)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Load the queries of a file."""
        return cls.parse(Path(path).read_text(encoding="utf-8"), source=str(path))

    @classmethod
    def parse(cls, text: str, *, source: str = "SQL") -> Self:
        """Parse the queries of a text, each under its `-- name:` line."""
        headers = list(_HEADER.finditer(text))
        queries: dict[str, Query] = {}
        ends = [*(each.start() for each in headers[1:]), len(text)]
        for header, end in zip(headers, ends, strict=False):  # a text without queries has an end too
            name = header["name"]
            if name in queries:
                raise SetupInvalid(f"{source}: two queries are named {name}")
            block = text[header.end() : end]
            queries[name] = Query.parse(name, block, traits=frozenset(header["traits"].split()))
            refuse_star(name, tokenize(queries[name].sql))
        return cls(queries)

    def __getattr__(self, name: str) -> Query:
        try:
            return self.__dict__["_queries"][name]
        except KeyError:
            raise AttributeError(f"no query is named {name}") from None

    def __iter__(self) -> Iterator[Query]:
        return iter(self._queries.values())

    def __len__(self) -> int:
        return len(self._queries)


def _statement(name: str, text: str) -> list[Token]:
    """One statement's tokens, without comments and the closing semicolon."""
    tokens = [Token("space", " ") if token.kind == "comment" else token for token in tokenize(text)]
    while tokens and (tokens[-1].kind == "space" or tokens[-1].text == ";"):
        tokens.pop()
    if not any(token.kind != "space" for token in tokens):
        raise SetupInvalid(f"query {name} is empty")
    if any(token == Token("other", ";") for token in tokens):
        raise SetupInvalid(f"query {name} holds more than one statement: give each a name")
    if any(token.kind == "position" for token in tokens):
        raise SetupInvalid(f"query {name} has a numbered parameter: write :name instead")
    return tokens


_BEFORE_STAR = frozenset({".", ",", "select", "distinct", "all", "returning"})
_BEFORE_TABLE = frozenset({"", "(", "union", "all", "except", "intersect"})
_AFTER_STAR = frozenset({"", ",", ")", "from", "union", "except", "intersect"})


def refuse_star(name: str, tokens: Iterable[Token]) -> None:
    """Refuse `*` and `t.*` as columns: while a migration is rolled out, they differ from shard to shard.

    The dispatch function of a query is created once, from the columns that one shard has at that moment. `count(*)` and
    `EXISTS (SELECT * …)` do not depend on columns.
    """
    words = [token.text.lower() for token in tokens if token.kind not in {"space", "comment"}]
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        after = words[place + 1] if place + 1 < len(words) else ""
        # After `DISTINCT ON (…)` too, where a star that multiplies would be followed by an operand.
        is_star = word == "*" and (before in _BEFORE_STAR or (before == ")" and after in _AFTER_STAR))
        is_table = word == "table" and before in _BEFORE_TABLE
        if is_table or (is_star and words[max(place - 3, 0) : place] != ["exists", "(", "select"]):
            raise SetupInvalid(
                f"query {name} selects {'TABLE' if is_table else '*'}: list its columns by name, because they "
                "differ between shards while a migration is being rolled out"
            )


def _comment(text: str) -> str:
    lines: list[str] = []
    for line in text.strip().splitlines():
        if not line.startswith("--"):
            break
        lines.append(line.removeprefix("--").strip())
    return " ".join(lines)


def _writes(tokens: list[Token]) -> bool:
    words = [token.text.lower() for token in tokens if token.kind == "word"]
    return not words or words[0] not in _READING or not _WRITING.isdisjoint(words)
