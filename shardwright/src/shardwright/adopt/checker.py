"""Compares both sides row by row, by checksums of ranges of keys, while they are written.

Where a checksum differs, the rows of its range are compared one by one. A row may differ because it was just changed:
it is read at the owner, at the follower after that has caught up, and at the owner again. Only a row that did not
change at the owner meanwhile, and is another at the follower, is a difference.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shardwright.adopt.catalog import Table
from shardwright.adopt.changes import Batch, Key, Row
from shardwright.adopt.follower import Follower
from shardwright.adopt.journal import Journal
from shardwright.adopt.models import SOURCE, AdoptOptions, AdoptProgress, OnProgress
from shardwright.adopt.routes import Routes
from shardwright.adopt.session import Session
from shardwright.adopt.sides import Found, Place, Side
from shardwright.topology import fetch_rows
from shardwright.widen import quote

if TYPE_CHECKING:
    from asyncpg import Connection

_SHOWN = 120
_MOST_DIFFERENCES = 1_000
"""So many are kept for the report; all are counted."""
_KEYS_AT_ONCE = 5_000
Digest = tuple[int, str, str]
State = tuple[tuple[str | None, ...], ...]
"""The values of a row at every place that has it; none where it is nowhere."""


@dataclass(frozen=True)
class Difference:
    """A row that the sides do not have alike."""

    table: str
    key: Key
    old: str
    shards: str

    def __str__(self) -> str:
        return f"{self.table} {', '.join(self.key)}: {self.old} in the old database, {self.shards} in shards"


@dataclass
class CheckReport:
    """What a comparison found."""

    rows: int = 0
    ranges: int = 0
    count: int = 0
    """How many rows differ."""
    differences: list[Difference] = field(default_factory=list[Difference])
    """The first of them."""
    repaired: int = 0
    busy: int = 0
    """Rows that changed whenever they were looked at, and could not be compared."""

    @property
    def is_equal(self) -> bool:
        """Whether no difference is left."""
        return self.count == self.repaired


class Checker:
    """Compares the tables of one adoption."""

    def __init__(  # noqa: PLR0917 - what comparing needs
        self,
        session: Session,
        journal: Journal,
        routes: Routes,
        follower: Follower,
        options: AdoptOptions,
        progress: OnProgress,
    ) -> None:
        self._routes, self._journal, self._follower = routes, journal, follower
        self._options, self._progress = options, progress
        self._old, self._shards = session.sides(routes)
        self._report = CheckReport()

    async def run(self, *, repair: bool) -> CheckReport:
        """Compare every table."""
        await self._follower.catch_up()
        for table in self._routes.tables.values():
            await self._check(table, repair=repair)
            await self._follower.catch_up()
        return self._report

    async def _check(self, table: Table, *, repair: bool) -> None:
        last: Key | None = None
        while True:
            digest, end = await self._old_digest(table, last)
            is_last = digest[0] < self._options.range_rows
            until = None if is_last else end
            self._report.ranges += 1
            self._report.rows += digest[0]
            if any(found != digest for found in await self._shard_digests(table, last, until)):
                await self._compare(table, last, until, repair=repair)
            self._progress(AdoptProgress(self._journal.adoption, f"checking {table.name}", self._report.rows))
            await self._follower.step()
            if is_last:
                return
            last = end

    async def _old_digest(self, table: Table, last: Key | None) -> tuple[Digest, Key | None]:
        place = self._old.places[table.name][0]
        key = ", ".join(f"t.{quote(name)}" for name in table.key)
        named = ", ".join(f"t.{quote(name)}::text" for name in table.key)
        condition, args = _range(table, last, None)
        sql = (
            f"SELECT {_DIGEST}, max(array_key) FILTER (WHERE number = total) AS last_key FROM (SELECT row_text, "
            f"array_key, number, count(*) OVER () AS total FROM (SELECT {_row_text(table)} AS row_text, "
            f"ARRAY[{named}]::text[] AS array_key, row_number() OVER (ORDER BY {key}) AS number "
            f"FROM {place.table(table.name)} AS t WHERE {condition} ORDER BY {key} LIMIT {self._options.range_rows}"
            ") AS page) AS counted"
        )
        row = (await fetch_rows(self._old.conns[SOURCE], sql, *args))[0]
        return (row[0], row[1], row[2]), tuple(row["last_key"]) if row["last_key"] is not None else None

    async def _shard_digests(self, table: Table, last: Key | None, until: Key | None) -> list[Digest]:
        """One digest over all shards, or that of each copy of a lookup table."""
        by_server: dict[str, list[Place]] = {}
        for place in self._shards.places[table.name]:
            by_server.setdefault(place.server, []).append(place)
        found = [
            await _digest(self._shards.conns[server], table, places, last, until)
            for server, places in by_server.items()
        ]
        if table.name in self._routes.plan.lookups:
            return found
        counts = sum(each[0] for each in found)
        return [(counts, *(str(sum(int(each[at]) for each in found)) for at in (1, 2)))]  # pyright: ignore[reportReturnType] - two sums

    async def _compare(self, table: Table, last: Key | None, until: Key | None, *, repair: bool) -> None:
        keys: set[Key] = set()
        hashes: list[dict[Key, tuple[str, ...]]] = []
        for side in (self._old, self._shards):
            found = await _hashes(side, table, last, until)
            hashes.append(found)
            keys |= found.keys()
        copies = self._copies(table)
        suspects = [key for key in keys if hashes[0].get(key, ()) * copies != hashes[1].get(key, ())]
        for start in range(0, len(suspects), _KEYS_AT_ONCE):
            await self._confirm(table, sorted(suspects[start : start + _KEYS_AT_ONCE]), repair=repair)

    def _copies(self, table: Table) -> int:
        """How many places have each row of a table among the shards."""
        return len(self._shards.places[table.name]) if table.name in self._routes.plan.lookups else 1

    async def _confirm(self, table: Table, suspects: Sequence[Key], *, repair: bool) -> None:
        is_switched = self._journal.adoption.is_switched
        owner, follower = (self._shards, self._old) if is_switched else (self._old, self._shards)
        for _ in range(self._options.check_rounds):
            before = await _states(owner, table, suspects)
            await self._follower.drain(await self._follower.send_markers())
            there = await _states(follower, table, suspects)
            after = await _states(owner, table, suspects)
            wrong = [key for key in suspects if not self._is_alike(table, before[key], there[key])]
            real = [key for key in wrong if before[key] == after[key]]
            self._add(table, real, before, there)
            if repair and real:
                await self._repair(table, real, owner)
            suspects = [key for key in wrong if key not in set(real)]
            if not suspects:
                return
        self._report.busy += len(suspects)

    def _is_alike(self, table: Table, owner: State, follower: State) -> bool:
        copies = self._copies(table)
        if self._journal.adoption.is_switched:
            return owner == follower * copies
        return owner * copies == follower

    def _add(
        self, table: Table, keys: Sequence[Key], owner: dict[Key, State], follower: dict[Key, State]
    ) -> None:
        old, shards = (follower, owner) if self._journal.adoption.is_switched else (owner, follower)
        self._report.count += len(keys)
        for key in keys[: max(0, _MOST_DIFFERENCES - len(self._report.differences))]:
            self._report.differences.append(Difference(table.name, key, _show(old[key]), _show(shards[key])))

    async def _repair(self, table: Table, keys: Sequence[Key], owner: Side) -> None:
        """Give the follower what the owner has now; changes that are on their way come after it."""
        batch = Batch(self._routes.tables)
        changes = batch.of(table.name)
        found: dict[Key, Found] = {each.key: each for each in await owner.fetch(table, keys)}
        for key in keys:
            changes.rows[key] = Row(found[key].encoded()) if key in found else None
        await self._follower.applier.apply(batch)
        self._report.repaired += len(keys)


_DIGEST = (
    "count(*), coalesce(sum(hashtextextended(row_text, 0)::numeric), 0)::text, "
    "coalesce(sum(hashtextextended(row_text, 1)::numeric), 0)::text"
)


def _row_text(table: Table) -> str:
    return f"ROW({', '.join(f't.{quote(name)}' for name in table.stored)})::text"


def _range(table: Table, last: Key | None, until: Key | None) -> tuple[str, list[str]]:
    """The condition that a key lies after one and not after another, with its parameters."""
    names = ", ".join(f"t.{quote(name)}" for name in table.key)
    args: list[str] = []
    conditions: list[str] = []
    for sign, key in ((">", last), ("<=", until)):
        if key is None:
            continue
        casts = ", ".join(
            f"${len(args) + at + 1}::text::{table.columns[name].type}" for at, name in enumerate(table.key)
        )
        args += key
        conditions.append(f"ROW({names}) {sign} ROW({casts})")
    return " AND ".join(conditions) or "true", args


async def _digest(
    conn: "Connection", table: Table, places: Sequence[Place], last: Key | None, until: Key | None
) -> Digest:
    condition, args = _range(table, last, until)
    rows = " UNION ALL ".join(
        f"SELECT {_row_text(table)} AS row_text FROM {place.table(table.name)} AS t WHERE {condition}"
        for place in places
    )
    found = (await fetch_rows(conn, f"SELECT {_DIGEST} FROM ({rows}) AS found", *args))[0]
    return found[0], found[1], found[2]


async def _hashes(
    side: Side, table: Table, last: Key | None, until: Key | None
) -> dict[Key, tuple[str, ...]]:
    """The hashes of a range's rows, by key."""
    named = ", ".join(f"t.{quote(name)}::text" for name in table.key)
    condition, args = _range(table, last, until)
    found: dict[Key, tuple[str, ...]] = {}
    for place in side.places[table.name]:
        rows: Sequence[Any] = await fetch_rows(
            side.conns[place.server],
            f"SELECT ARRAY[{named}]::text[] AS key, md5({_row_text(table)}) AS hash "
            f"FROM {place.table(table.name)} AS t WHERE {condition}",
            *args,
        )
        for row in rows:
            key = tuple(row["key"])
            found[key] = (*found.get(key, ()), row["hash"])
    return found


async def _states(side: Side, table: Table, keys: Sequence[Key]) -> dict[Key, State]:
    found: dict[Key, State] = dict.fromkeys(keys, ())
    for each in await side.fetch(table, keys):
        found[each.key] = (*found[each.key], tuple(each.values))
    return found


def _show(state: State) -> str:
    if not state:
        return "nothing"
    texts = {
        f"({', '.join('∅' if value is None else value for value in values)})"[:_SHOWN] for values in state
    }
    times = f" {len(state)} times" if len(state) > 1 else ""
    return " and ".join(sorted(texts)) + times
