"""Finds the table whose rows are tenants: whoever owns the rows of the others.

What counts is how many tables a candidate owns, that is how many refer to it, directly or through others. Tables that
many refer to without being owned by them are told by their form: a vocabulary, such as Django's content types, only
gives numbers to names. Tables that are called like people or organizations are preferred to others, unless they own
little.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from shardwright.adopt.catalog import ForeignKey, Table
from shardwright.adopt.errors import AdoptRefused

_OWNERS = (
    "account|agency|business|client|company|customer|employer|household|league|member|merchant|organi[sz]ation|owner|"
    "patient|people|person|player|school|seller|shop|store|subscriber|team|tenant|user|vendor|workspace"
)
_IS_OWNER = re.compile(rf"({_OWNERS})s?$|(agenc|compan)ies$|(business)es$", re.IGNORECASE)
_SHARE = 3
"""A table that is called like an owner is preferred if it owns at least one table of so many that another one does."""


class Tenant(NamedTuple):
    """A table that could be the tenant."""

    table: str
    followers: int
    """How many tables refer to it, directly or through others."""


def find_tenant(tables: Mapping[str, Table], schema: str) -> str:
    """The table that owns most others; raises where none can be the tenant."""
    ranked = rank_tenants(tables, schema)
    if not ranked:
        raise AdoptRefused("no table has a primary key of one column: name the tenant with --tenant")
    return ranked[0].table


def rank_tenants(tables: Mapping[str, Table], schema: str) -> list[Tenant]:
    """The tables that could be the tenant, the likeliest first."""
    found = {
        name: find_followers(tables, schema, name) for name, table in tables.items() if len(table.key) == 1
    }
    most = max((len(follow) for follow in found.values()), default=0)

    def rank(name: str) -> tuple[int | str, ...]:
        follow, table = found[name], tables[name]
        is_owner = _IS_OWNER.search(name) is not None
        required = [each for each, key in follow.items() if tables[each].is_required(key)]
        return (
            bool(follow),
            is_owner and _SHARE * len(follow) >= most,
            is_owner or not table.is_vocabulary,
            len(follow),
            len(required),
            not any(key.parent != name for key in table.foreign_keys),
            _count_references(tables, schema, name),
            sum(tables[each].rows for each in required),
            name,
        )

    return [Tenant(name, len(found[name])) for name in sorted(found, key=rank, reverse=True)]


def _count_references(tables: Mapping[str, Table], schema: str, name: str) -> int:
    keys = [key for table in tables.values() for key in table.foreign_keys]
    return sum((key.parent_schema, key.parent) == (schema, name) for key in keys)


def find_followers(tables: Mapping[str, Table], schema: str, tenant: str) -> dict[str, ForeignKey]:
    """By which foreign key each table follows: over as few tables as possible, and rather one that is never null."""
    found: dict[str, ForeignKey] = {}
    reached = {tenant}
    for requires in (True, False):  # whatever every row has comes first, however long the way
        while True:
            next_ones: dict[str, ForeignKey] = {}
            for name in sorted(tables.keys() - reached):
                for key in tables[name].foreign_keys:
                    is_usable = key.parent in reached and key.parent_schema == schema and key.is_validated
                    fits = set(key.parent_columns) == set(tables[key.parent].key) if is_usable else False
                    if fits and tables[name].is_required(key) >= requires and name not in next_ones:
                        next_ones[name] = key
            if not next_ones:
                break
            found |= next_ones
            reached |= next_ones.keys()
    return found
