"""Renders catalog facts as DDL that is readable and can be executed in an empty schema."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from shardwright.migrations.catalog import Fact

# What must come before the tables that use it, what belongs to its table, what may depend on any table.
_BEFORE = ("type", "sequence", "function")
_UNDER = ("sequence owner", "index", "setting", "policy", "statistics", "comment")
_AFTER = ("late function", "trigger", "view")

Facts = Mapping[str, Sequence[Fact]]


def write_schema(facts: Sequence[Fact]) -> str:
    """One schema as DDL: types and functions, each table with its parts, then what refers to several tables.

    Facts of tables that are not among them add to tables that exist already.
    """
    by_kind: defaultdict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        by_kind[fact.kind].append(fact)
    return "\n\n".join(_paragraphs(by_kind)) + "\n"


def _paragraphs(by_kind: Facts) -> Iterator[str]:
    for kind in _BEFORE:
        yield from (_statement(fact) for fact in _in_dependency_order(by_kind[kind]))
    tables = _in_dependency_order(by_kind["table"])
    for table in tables:
        yield "\n".join([_create_table(table, by_kind), *_parts_of(by_kind, {table.name})])
    names = {table.name for table in tables}
    added = [fact for fact in by_kind["constraint"] if fact.owner not in names]
    if keys := [*added, *by_kind["foreign key"]]:
        yield "\n".join(_add_constraint(key) for key in keys)
    for kind in _AFTER:
        yield from (_statement(fact) for fact in _in_dependency_order(by_kind[kind]))
    owners = {fact.owner for kind in _UNDER for fact in by_kind[kind]}
    if others := _parts_of(by_kind, owners - names):
        yield "\n".join(others)


def _create_table(table: Fact, by_kind: Facts) -> str:
    constraints = [fact for fact in by_kind["constraint"] if fact.owner == table.name]
    # CREATE TABLE takes no NOT VALID, and a partition's elements are its parent's.
    is_partition = "PARTITION OF" in table.detail
    later = [fact for fact in constraints if is_partition or fact.detail.endswith("NOT VALID")]
    columns = [f"{quote(fact.name)} {fact.detail}" for fact in by_kind["column"] if fact.owner == table.name]
    inner = [f"CONSTRAINT {quote(fact.name)} {fact.detail}" for fact in constraints if fact not in later]
    unlogged, tail = (
        ("UNLOGGED ", table.detail[8:]) if table.detail.startswith("UNLOGGED") else ("", table.detail)
    )
    elements = "" if is_partition else " (\n    {}\n)".format(",\n    ".join([*columns, *inner]))
    created = f"CREATE {unlogged}TABLE {quote(table.name)}{elements}{' ' if tail else ''}{tail.strip()};"
    return "\n".join([created, *(_add_constraint(fact) for fact in later)])


def _add_constraint(fact: Fact) -> str:
    return f"ALTER TABLE {quote(fact.owner)} ADD CONSTRAINT {quote(fact.name)} {fact.detail};"


def _parts_of(by_kind: Facts, owners: set[str]) -> list[str]:
    return [_statement(fact) for kind in _UNDER for fact in by_kind[kind] if fact.owner in owners]


def _statement(fact: Fact) -> str:
    return f"{fact.detail.rstrip()};"


def _in_dependency_order(facts: Sequence[Fact]) -> list[Fact]:
    """Sort by name and by dependency: a fact that mentions another comes after it; cycles stay sorted by name."""
    waiting, ordered = list(facts), list[Fact]()
    while waiting:
        free = [
            fact for fact in waiting if not any(_mentions(fact, other) for other in waiting if other != fact)
        ]
        ordered += free or waiting
        waiting = [fact for fact in waiting if fact not in ordered]
    return ordered


def _mentions(fact: Fact, other: Fact) -> bool:
    name = re.escape(other.name.partition("(")[0])
    return re.search(rf"\b{name}\b", fact.detail) is not None


def quote(name: str) -> str:
    """A name as an SQL identifier, quoted where necessary."""
    plain = re.fullmatch(r"[a-z_][a-z0-9_]*", name) is not None and name not in _RESERVED
    return name if plain else '"{}"'.format(name.replace('"', '""'))


# PostgreSQL's reserved words; pg_get_keywords() lists them with catcode R.
_RESERVED = frozenset(
    """
    all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create
    current_catalog current_date current_role current_time current_timestamp current_user default deferrable
    desc distinct do else end except false fetch for foreign from grant group having in initially intersect into
    lateral leading limit localtime localtimestamp not null offset on only or order placing primary references
    returning select session_user some symmetric system_user table then to trailing true union unique user using
    variadic when where window with
    """.split()  # noqa: SIM905 - a list of ninety strings reads worse
)
