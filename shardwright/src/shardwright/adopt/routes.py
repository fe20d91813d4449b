"""How rows find their shard: the plan, resolved against the tables of the old database.

A row's tenant is the value of its column, or that of the row that it refers to, and so on up to the tenant's own table.
Rows without a tenant, whose column is null, go to shard 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from shardwright.adopt.catalog import ForeignKey, Table
from shardwright.adopt.errors import AdoptRefused
from shardwright.adopt.plan import Plan
from shardwright.topology import ShardMap
from shardwright.widen import quote

WITHOUT_TENANT = 0
"""The shard of rows that have no tenant."""


@dataclass(frozen=True)
class Route:
    """A table that follows: by columns that hold the tenant's key, or that refer to the key of `parent`."""

    table: Table
    columns: tuple[str, ...]
    parent: str | None


class Routes:
    """The routes of a plan, tables that are referred to before those that refer to them."""

    def __init__(self, plan: Plan, tables: Mapping[str, Table], shard_map: ShardMap) -> None:
        self.plan = plan
        self.tables = {name: tables[name] for name in plan.tables}
        self._map = shard_map
        self._shards: dict[str, int] = {}
        self.by_table = _in_order({name: _resolve(plan, tables, name) for name in plan.followers})

    @property
    def is_constant(self) -> bool:
        """Whether all rows go to one shard, whatever their tenant."""
        return self.plan.placement == "shard 0"

    @property
    def shards(self) -> list[int]:
        """The shards that rows can go to."""
        return [0] if self.is_constant else sorted({0, *range(self._map.lookup_shards)})

    def shard_of(self, tenant: str | None) -> int:
        """The shard of a tenant's rows, by its key as text: the one that `Shards.of` gives to the application."""
        if tenant is None or self.is_constant:
            return WITHOUT_TENANT
        found = self._shards.get(tenant)
        if found is None:
            if len(self._shards) >= 1_000_000:  # noqa: PLR2004 - some tens of megabytes
                self._shards.clear()
            found = self._shards[tenant] = self._map.lookup_shard(tenant)
        return found

    def children_of(self, table: str) -> list[Route]:
        """The tables that find their tenant through this one."""
        return [route for route in self.by_table.values() if route.parent == table]

    def tenant_sql(self, table: str, schema: str) -> tuple[str, str]:
        """The expression of a row's tenant, and FROM with the joins that it needs; the table is called t0."""
        route = self.by_table[table]
        joins, alias = f"FROM {quote(schema)}.{quote(table)} AS t0", 0
        while route.parent is not None:
            parent = self.by_table[route.parent]
            pairs = zip(route.columns, parent.table.key, strict=True)
            condition = " AND ".join(f"t{alias + 1}.{quote(to)} = t{alias}.{quote(of)}" for of, to in pairs)
            joins += f" LEFT JOIN {quote(schema)}.{quote(route.parent)} AS t{alias + 1} ON {condition}"
            route, alias = parent, alias + 1
        return f"t{alias}.{quote(route.columns[0])}::text", joins


def check_plan(plan: Plan, tables: Mapping[str, Table], *, all_tables: bool = True) -> None:
    """Raise when the plan does not fit the tables: each must have a way to its tenant, and all of them a place."""
    known = {*plan.tables, *plan.stay}
    if missing := sorted((known if all_tables else set(plan.tables)) - tables.keys()):
        raise AdoptRefused(
            f"the plan names {', '.join(missing)}, which schema {plan.schema} of the old database does not have"
        )
    if left := sorted(tables.keys() - known if all_tables else ()):
        raise AdoptRefused(
            f"the plan has no place for {', '.join(left)}: add them to follow, lookups or stay "
            "(`shardwright adopt propose` shows a proposal)"
        )
    _in_order({name: _resolve(plan, tables, name) for name in plan.followers})


def _resolve(plan: Plan, tables: Mapping[str, Table], name: str) -> Route:
    table = tables[name]
    if not table.key:
        raise AdoptRefused(
            f"{name} has no primary key, by which rows are recognised: add one, or let it stay"
        )
    if name == plan.tenant:
        if len(table.key) != 1:
            raise AdoptRefused(
                f"the tenant {name} has a primary key of several columns: choose a table with one"
            )
        return Route(table, table.key, None)
    columns = plan.follow[name]
    if missing := [each for each in columns if each not in table.columns]:
        raise AdoptRefused(f"{name} has no column {missing[0]}, which the plan has it follow")
    foreign_key = find_foreign_key(table, columns, plan)
    if foreign_key is None:
        if len(columns) != 1:
            raise AdoptRefused(
                f"{name} has no foreign key of {', '.join(columns)} to a table that follows the tenant: add one"
            )
        return Route(table, columns, None)  # it holds the tenant's key without referring to it
    if foreign_key.parent == plan.tenant and foreign_key.parent_columns == tables[plan.tenant].key:
        return Route(table, foreign_key.columns, None)
    parent = tables[foreign_key.parent]
    if set(foreign_key.parent_columns) != set(parent.key):
        raise AdoptRefused(
            f"{name} follows {foreign_key}, which is not the primary key there: choose another column"
        )
    if not foreign_key.is_validated:
        raise AdoptRefused(
            f"the foreign key {foreign_key.name} of {name} was never validated, so rows may have no tenant: "
            f"run ALTER TABLE {quote(name)} VALIDATE CONSTRAINT {quote(foreign_key.name)}"
        )
    to = dict(zip(foreign_key.parent_columns, foreign_key.columns, strict=True))
    return Route(table, tuple(to[name] for name in parent.key), foreign_key.parent)


def find_foreign_key(table: Table, columns: tuple[str, ...], plan: Plan) -> ForeignKey | None:
    """The foreign key of exactly these columns to a table that follows the tenant."""
    for each in table.foreign_keys:
        if (
            set(each.columns) == set(columns)
            and each.parent in plan.followers
            and each.parent_schema == plan.schema
        ):
            return each
    return None


def _in_order(routes: Mapping[str, Route]) -> dict[str, Route]:
    ordered: dict[str, Route] = {}
    waiting = dict(routes)
    while waiting:
        free = [
            name for name, route in waiting.items() if route.parent is None or route.parent not in waiting
        ]
        if not free:
            raise AdoptRefused(f"these tables follow each other in a circle: {', '.join(sorted(waiting))}")
        for name in free:
            ordered[name] = waiting.pop(name)
    return ordered
