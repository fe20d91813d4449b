"""Proposes a plan from the tables of an unsharded database, by following its foreign keys from the tenant's table.

Tables that refer to the tenant, directly or through others, follow it. Tables that those refer to become lookups, with
those that only connect lookups, and the rest stays. Foreign keys whose rows may be in different shards are named, with
the number of such rows and what can be done about them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardwright.adopt.catalog import ForeignKey, Table, read_tables
from shardwright.adopt.errors import AdoptRefused
from shardwright.adopt.plan import Placement, Plan, write_plan
from shardwright.adopt.routes import Routes
from shardwright.adopt.session import open_source
from shardwright.adopt.tenants import find_followers, find_tenant, rank_tenants
from shardwright.ids import DEFAULT_EPOCH_MS, Layout
from shardwright.topology import ShardMap, fetch_value
from shardwright.widen import quote

if TYPE_CHECKING:
    from asyncpg import Connection

_LARGE_LOOKUP = 100_000
_OTHER_TENANTS = 3
_INTEGERS = ("integer", "smallint")


@dataclass(frozen=True)
class Crossing:
    """A foreign key between tables that follow, whose rows may belong to different tenants."""

    foreign_key: ForeignKey
    rows: int | None
    """How many rows do; None where they were not counted."""

    def __str__(self) -> str:
        if self.rows == 0:
            return (
                f"{self.foreign_key}: no row refers to another tenant's, so shards can keep this foreign key as "
                "long as the application does not let one."
            )
        table, parent = self.foreign_key.table, self.foreign_key.parent
        column = ", ".join(self.foreign_key.columns)
        counted = "rows may refer" if self.rows is None else f"{self.rows:,} rows refer"
        return (
            f"{self.foreign_key}: {counted} to another tenant's row, in another shard. Ways out:\n"
            f"  - leave the foreign key out of the shards' tables: {column} stays, read with the parent's tenant;\n"
            f"  - let {table} follow {column} instead, if that is how it is read;\n"
            f'  - make {parent} a lookup, or let {table} stay; placement = "shard 0" keeps all rows together.'
        )


@dataclass(frozen=True)
class Proposal:
    """A plan with what is to be known of it."""

    plan: Plan
    notes: Mapping[str, str]
    crossings: tuple[Crossing, ...]
    remarks: tuple[str, ...]

    def to_toml(self) -> str:
        """The plan as a file."""
        remarks = list(self.remarks)
        if self.crossings:
            remarks += ["Foreign keys that may cross shards:", *(f"- {each}" for each in self.crossings)]
        return write_plan(self.plan, self.notes, remarks)


async def propose(
    dsn: str,
    *,
    schema: str = "public",
    tenant: str | None = None,
    placement: Placement = "tenant",
    count: bool = True,
) -> Proposal:
    """Propose a plan for a database; `count` counts the rows that would cross shards, which reads the tables."""
    conn = await open_source(dsn)
    try:
        tables = await read_tables(conn, schema)
        if not tables:
            raise AdoptRefused(f"schema {schema} has no tables: name another one with --schema")
        plan = propose_plan(tables, schema=schema, tenant=tenant, placement=placement)
        keys = crossing_keys(plan, tables)
        counted = [Crossing(key, await _count(conn, plan, tables, key) if count else None) for key in keys]
        return Proposal(plan, _notes(plan, tables), tuple(counted), tuple(_remarks(plan, tables)))
    finally:
        await conn.close()


def propose_plan(
    tables: Mapping[str, Table],
    *,
    schema: str = "public",
    tenant: str | None = None,
    placement: Placement = "tenant",
) -> Plan:
    """The plan that follows from the tables' foreign keys alone."""
    if tenant is None:
        tenant = find_tenant(tables, schema)
    elif tenant not in tables:
        raise AdoptRefused(f"schema {schema} has no table {tenant}: it has {', '.join(sorted(tables))}")
    if len(tables[tenant].key) != 1:
        raise AdoptRefused(f"{tenant} has no primary key of one column: name another tenant with --tenant")
    follow = {name: key.columns for name, key in find_followers(tables, schema, tenant).items()}
    followers = {tenant, *follow}
    lookups = _find_lookups(tables, followers)
    keyless = {name for name in {*follow, *lookups} if not tables[name].key}
    return Plan(
        schema=schema,
        placement=placement,
        tenant=tenant,
        follow={name: columns for name, columns in sorted(follow.items()) if name not in keyless},
        lookups=tuple(sorted(lookups - keyless)),
        stay=tuple(sorted((tables.keys() - followers - lookups) | keyless)),
    )


def _find_lookups(tables: Mapping[str, Table], followers: set[str]) -> set[str]:
    """The tables that followers refer to, what those refer to, and tables that only connect some of them."""
    found: set[str] = set()
    waiting = [key.parent for name in followers for key in tables[name].foreign_keys]
    while waiting:
        name = waiting.pop()
        if name in tables and name not in followers | found:
            found.add(name)
            waiting += [key.parent for key in tables[name].foreign_keys]
    return found | {
        name
        for name, table in tables.items()
        if name not in followers
        and table.is_junction
        and all(key.parent in found for key in table.foreign_keys)
    }


def crossing_keys(plan: Plan, tables: Mapping[str, Table]) -> list[ForeignKey]:
    """The foreign keys that may lead to another shard, or to a table that is not copied."""
    if plan.placement == "shard 0":
        return []
    followers = set(plan.followers)
    return [
        key
        for name in plan.followers
        for key in tables[name].foreign_keys
        if key.parent in followers
        and not (name in plan.follow and set(plan.follow[name]) == set(key.columns))
    ]


async def _count(conn: "Connection", plan: Plan, tables: Mapping[str, Table], key: ForeignKey) -> int:
    routes = Routes(plan, tables, ShardMap(1, Layout(DEFAULT_EPOCH_MS), {}, {}))
    own, joins = routes.tenant_sql(key.table, plan.schema)
    other, other_joins = routes.tenant_sql(key.parent, plan.schema)
    pairs = " AND ".join(f"p.c{at} = t0.{quote(column)}" for at, column in enumerate(key.columns))
    columns = ", ".join(f"t0.{quote(column)} AS c{at}" for at, column in enumerate(key.parent_columns))
    return await fetch_value(
        conn,
        f"SELECT count(*) {joins} JOIN (SELECT {other} AS tenant, {columns} {other_joins}) AS p ON {pairs} "
        f"WHERE p.tenant IS DISTINCT FROM {own}",
    )


def _notes(plan: Plan, tables: Mapping[str, Table]) -> dict[str, str]:
    notes: dict[str, str] = {plan.tenant: f"{tables[plan.tenant].rows:,} rows"}
    for name, columns in plan.follow.items():
        key = next(each for each in tables[name].foreign_keys if each.columns == columns)
        null = "" if tables[name].is_required(key) else "; rows without it go to shard 0"
        notes[name] = f"→ {key.parent}, {tables[name].rows:,} rows{null}"
    for name in plan.lookups:
        large = " (large for a table that every server has)" if tables[name].rows > _LARGE_LOOKUP else ""
        notes[name] = f"{tables[name].rows:,} rows{large}"
    for name in plan.stay:
        notes[name] = f"{tables[name].rows:,} rows" + ("" if tables[name].key else ", no primary key")
    return notes


def _remarks(plan: Plan, tables: Mapping[str, Table]) -> list[str]:
    return [*_other_tenants(plan, tables), *_narrow_keys(plan, tables)]


def _other_tenants(plan: Plan, tables: Mapping[str, Table]) -> list[str]:
    others = [
        f"{each.table} (tables that follow it: {each.followers})"
        for each in rank_tenants(tables, plan.schema)
        if each.table != plan.tenant and each.followers
    ]
    if not others:
        return []
    return [f"Other tables that could be the tenant, with --tenant: {', '.join(others[:_OTHER_TENANTS])}.\n"]


def _narrow_keys(plan: Plan, tables: Mapping[str, Table]) -> list[str]:
    narrow = [
        f"{name}.{column}"
        for name in plan.followers
        for column in tables[name].key
        if tables[name].columns[column].type in _INTEGERS and tables[name].columns[column].has_sequence
    ]
    if not narrow:
        return []
    columns = " ".join(narrow)
    room = f"shardwright widen {columns} --database DSN && shardwright widen finish --database DSN"
    return [
        f"New rows in shards have ids of 8 bytes. To return with `adopt back`, the old database needs room:\n  {room}\n"
    ]
