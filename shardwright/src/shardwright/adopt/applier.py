"""Applies the net effect of transactions to the side that follows, each row at its place.

A row that changed is deleted and inserted again, so that rows may exchange unique values. One whose tenant is another
now is moved, with every row that finds its tenant through it: first it is written to its new server, then deleted at
the old one. A batch that was interrupted is applied again from its beginning, and comes to the same end.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from shardwright.adopt.catalog import Table
from shardwright.adopt.changes import Batch, Key, Row, TableChanges
from shardwright.adopt.gather_all import gather_all
from shardwright.adopt.pgoutput import Missing, Value
from shardwright.adopt.routes import Route, Routes
from shardwright.adopt.row_sql import delete_sql, insert_sql
from shardwright.adopt.sides import Place, Side
from shardwright.ids import schema_name
from shardwright.topology import ShardMap

_SMALL_ROWS, _SMALL_BYTES = 400, 1 << 20
Spot = tuple[Place, str]
"""A table at a place."""


@dataclass
class Writes:
    """What has to be written, by place and table."""

    deletes: dict[Spot, list[Key]] = field(default_factory=lambda: defaultdict(list[Key]))
    rows: dict[Spot, list[Sequence[Value]]] = field(
        default_factory=lambda: defaultdict(list[Sequence[Value]])
    )
    late_deletes: dict[Spot, list[Key]] = field(default_factory=lambda: defaultdict(list[Key]))
    """Rows that have moved to another server, and are deleted once they are there."""
    emptied: list[str] = field(default_factory=list[str])

    def is_small(self, server: str) -> bool:
        """Whether what has to be written there is worth no more than one statement after the other."""
        rows = [row for (place, _), own in self.rows.items() if place.server == server for row in own]
        keys = sum(len(own) for (place, _), own in self.deletes.items() if place.server == server)
        sizes = sum(len(value) for row in rows for value in row if isinstance(value, bytes))
        return len(rows) + keys <= _SMALL_ROWS and sizes <= _SMALL_BYTES


class Applier:
    """Applies batches to `target`; without routes, every table has one place. `owner` is the side they come from."""

    def __init__(self, target: Side, owner: Side, routes: Routes, shard_map: ShardMap | None) -> None:
        self._target, self._owner, self._routes, self._map = target, owner, routes, shard_map

    async def apply(self, batch: Batch) -> None:
        """Make the target's rows what they are after the batch."""
        writes = Writes()
        await _Resolution(self._target, self._owner, self._routes, self._map, batch, writes).run()
        for table in writes.emptied:
            await self._target.empty(table)
        servers = {place.server for place, _ in [*writes.deletes, *writes.rows]}
        await gather_all(self._write(server, writes) for server in servers)
        late = {place.server for place, _ in writes.late_deletes}
        await gather_all(self._delete_late(server, writes) for server in late)

    async def _write(self, server: str, writes: Writes) -> None:
        if writes.is_small(server):  # one round trip instead of two or three for each table of a shard
            await self._target.conns[server].execute(self._write_sql(server, writes))
            return
        async with self._target.conns[server].transaction():
            for (place, name), keys in writes.deletes.items():
                if place.server == server:
                    await self._target.delete(place, self._routes.tables[name], keys)
            for (place, name), rows in writes.rows.items():
                if place.server == server:
                    await self._target.insert(place, self._routes.tables[name], rows)

    def _write_sql(self, server: str, writes: Writes) -> str:
        """Statements that PostgreSQL makes one transaction of, since they arrive together."""
        tables = self._routes.tables
        deletes = [
            delete_sql(place, tables[name], keys)
            for (place, name), keys in writes.deletes.items()
            if place.server == server and keys
        ]
        inserts = [
            insert_sql(place, tables[name], rows)
            for (place, name), rows in writes.rows.items()
            if place.server == server and rows
        ]
        return "; ".join(deletes + inserts)

    async def _delete_late(self, server: str, writes: Writes) -> None:
        async with self._target.conns[server].transaction():
            for (place, name), keys in writes.late_deletes.items():
                if place.server == server:
                    await self._target.delete(place, self._routes.tables[name], keys)


class _Resolution:
    """Finds out for one batch where its rows are and where they have to be."""

    def __init__(  # noqa: PLR0917 - what the applier has, and the batch
        self,
        target: Side,
        owner: Side,
        routes: Routes,
        shard_map: ShardMap | None,
        batch: Batch,
        writes: Writes,
    ) -> None:
        self._target, self._owner, self._routes, self._map = target, owner, routes, shard_map
        self._batch, self._writes = batch, writes
        self._to: dict[str, dict[Key, Place]] = defaultdict(dict)
        self._moved: dict[str, dict[Place, list[Key]]] = {}

    async def run(self) -> None:
        """Fill the writes."""
        for name in [*self._routes.by_table, *self._routes.plan.lookups]:
            route = self._routes.by_table.get(name)
            if route is not None and route.parent in self._moved:
                await self._add_children(route)
            if name in self._batch.by_table:
                await self._resolve(self._batch.of(name), route)

    async def _add_children(self, route: Route) -> None:
        """Rows whose parent moves move with it, although nothing of them has changed."""
        parents = self._moved[route.parent or ""]
        found = await self._target.fetch_children(route.table, route.columns, parents)
        changes = self._batch.of(route.table.name)
        for each in found:
            changes.rows.setdefault(each.key, Row(each.encoded()))

    async def _resolve(self, changes: TableChanges, route: Route | None) -> None:
        name = changes.table.name
        if changes.is_emptied:
            self._writes.emptied.append(name)
        places = self._target.places[name]
        if len(places) == 1 or route is None:  # one place, or a lookup table, which is everywhere
            await self._complete(changes)
            for place in places:
                self._put_into(changes, place)
            return
        known = [key for key, row in changes.rows.items() if row is None or not row.is_new]
        at = await self._target.find(changes.table, known)
        await self._complete(changes)
        wanted = await self._wanted(changes, route)
        self._moved[name] = defaultdict(list)
        for key, row in changes.rows.items():
            self._put(changes.table, key, row, wanted.get(key), at.get(key, set()))

    def _put_into(self, changes: TableChanges, place: Place) -> None:
        """All rows of the table have this place."""
        spot = place, changes.table.name
        self._writes.deletes[spot] += changes.rows
        if rows := [row.values for row in changes.rows.values() if row is not None]:
            self._writes.rows[spot] += rows

    def _put(self, table: Table, key: Key, row: Row | None, to: Place | None, at: set[Place]) -> None:
        if row is None or to is None:
            for place in at:
                self._writes.deletes[place, table.name].append(key)
            return
        self._to[table.name][key] = to
        self._writes.deletes[to, table.name].append(key)
        self._writes.rows[to, table.name].append(row.values)
        for place in at - {to}:
            later = self._writes.deletes if place.server == to.server else self._writes.late_deletes
            later[place, table.name].append(key)
            self._moved[table.name][place].append(key)

    async def _complete(self, changes: TableChanges) -> None:
        """Get the values that were not sent, because they had not changed."""
        lacking = {key: row for key, row in changes.rows.items() if row is not None and not row.is_complete}
        if not lacking:
            return
        bases = [*lacking] + [row.base for row in lacking.values() if row.base]
        found = {each.key: each for each in await self._target.fetch(changes.table, list(set(bases)))}
        lost = [key for key, row in lacking.items() if (row.base or key) not in found and key not in found]
        # A batch that is applied again may have deleted the base: the owner has it, or has deleted the row since.
        found |= {each.key: each for each in await self._owner.fetch(changes.table, lost)}
        for key, row in lacking.items():
            source = found.get(row.base or key) or found.get(key)
            if source is None:
                changes.rows[key] = None
                continue
            for position, value in enumerate(source.encoded()):
                if row.values[position] is Missing.UNCHANGED:
                    row.values[position] = value

    async def _wanted(self, changes: TableChanges, route: Route) -> dict[Key, Place]:
        rows = {key: row for key, row in changes.rows.items() if row is not None}
        if route.parent is None:
            return {
                key: self._place(self._routes.shard_of(changes.value_of(row, route.columns[0])))
                for key, row in rows.items()
            }
        parents = {
            key: tuple(changes.value_of(row, name) for name in route.columns) for key, row in rows.items()
        }
        at = await self._parents_at(route.parent, {each for each in parents.values() if None not in each})  # pyright: ignore[reportArgumentType] - those without a value were left out
        nowhere = self._place(self._routes.shard_of(None))
        return {key: at.get(parent, nowhere) for key, parent in parents.items()}  # pyright: ignore[reportArgumentType, reportCallIssue] - likewise

    async def _parents_at(self, name: str, keys: set[Key]) -> dict[Key, Place]:
        """Where the parents are after the batch; those that are nowhere are left out."""
        changed = self._batch.by_table[name].rows if name in self._batch.by_table else {}
        found = {key: self._to[name][key] for key in keys if changed.get(key) is not None}
        unknown = [key for key in keys if key not in changed]
        for key, places in (await self._target.find(self._routes.tables[name], unknown)).items():
            found[key] = next(iter(places))
        return found

    def _place(self, shard: int) -> Place:
        if self._map is None:
            raise AssertionError  # a side with several places has a map
        return Place(self._map.server_of(shard).name, schema_name(shard))
