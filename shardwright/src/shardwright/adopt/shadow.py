"""Reads of randomly chosen tenants, compared on both sides: each is answered by the tenant's shard alone.

Every table that follows is read by its tenant, as an application would, and so are the plan's own queries. An answer
that differs is asked for again after the follower has caught up, and counts only if the owner's did not change.
"""

import re
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import asyncpg

from shardwright.adopt.errors import AdoptRefused
from shardwright.adopt.follower import Follower
from shardwright.adopt.journal import Journal
from shardwright.adopt.models import AdoptOptions, AdoptProgress, OnProgress
from shardwright.adopt.routes import Routes
from shardwright.adopt.session import Session
from shardwright.ids import schema_name
from shardwright.topology import fetch_rows, search_path
from shardwright.widen import quote

if TYPE_CHECKING:
    from asyncpg import Connection

_MOST_ROWS = 1_000
_TENANT = re.compile(r":tenant\b")
Answer = list[str]


@dataclass
class ShadowReport:
    """What sampled reads found."""

    reads: int = 0
    differences: list[str] = field(default_factory=list[str])
    busy: int = 0
    old_ms: list[float] = field(default_factory=list[float])
    shards_ms: list[float] = field(default_factory=list[float])

    @property
    def medians_ms(self) -> tuple[float, float]:
        """How long a read takes in the middle, at the old database and in shards."""
        return (statistics.median(self.old_ms or [0.0]), statistics.median(self.shards_ms or [0.0]))


@dataclass(frozen=True)
class _Read:
    """A read of one tenant: its SQL for a schema."""

    name: str
    sql: Callable[[str], str]


class Shadow:
    """Compares reads of one adoption."""

    def __init__(  # noqa: PLR0917 - what comparing needs
        self,
        session: Session,
        journal: Journal,
        routes: Routes,
        follower: Follower,
        options: AdoptOptions,
        progress: OnProgress,
    ) -> None:
        self._session, self._journal, self._routes = session, journal, routes
        self._follower, self._options, self._progress = follower, options, progress
        self._report = ShadowReport()

    async def run(self, samples: int) -> ShadowReport:
        """Compare the reads of so many tenants."""
        await self._follower.catch_up()
        reads = [_Read(name, self._table_sql(name)) for name in self._routes.by_table]
        reads += [_Read(sql, self._query_sql(sql)) for sql in self._routes.plan.shadow]
        for number, tenant in enumerate(await self._sample(samples)):
            for read in reads:
                await self._compare(read, tenant)
            await self._follower.step()
            self._progress(AdoptProgress(self._journal.adoption, "comparing reads", number + 1, samples))
        return self._report

    async def _sample(self, samples: int) -> list[str]:
        root = self._routes.tables[self._routes.plan.tenant]
        share = min(100.0, 400.0 * samples / max(root.rows, 1))
        rows = await fetch_rows(
            self._session.source,
            f"SELECT {quote(root.key[0])}::text AS tenant FROM {quote(self._routes.plan.schema)}.{quote(root.name)} "
            f"TABLESAMPLE BERNOULLI ({share}) ORDER BY random() LIMIT $1",
            samples,
        )
        return [row["tenant"] for row in rows]

    def _table_sql(self, name: str) -> Callable[[str], str]:
        table = self._routes.tables[name]
        columns = ", ".join(f"t0.{quote(each)}" for each in table.stored)
        order = ", ".join(f"t0.{quote(each)}" for each in table.key)
        root = self._routes.tables[self._routes.plan.tenant]
        kind = root.columns[root.key[0]].type

        def sql(schema: str) -> str:
            tenant, joins = self._routes.tenant_sql(name, schema)
            wanted = f"{tenant.removesuffix('::text')} = $1::text::{kind}"
            return f"SELECT ROW({columns})::text AS answer {joins} WHERE {wanted} ORDER BY {order} LIMIT {_MOST_ROWS}"

        return sql

    def _query_sql(self, query: str) -> Callable[[str], str]:
        root = self._routes.tables[self._routes.plan.tenant]
        kind = root.columns[root.key[0]].type
        named = _TENANT.sub(lambda _: f"$1::text::{kind}", query.rstrip().rstrip(";"))
        if named == query.rstrip().rstrip(";"):
            raise AdoptRefused(f"a query of the plan's shadow does not mention :tenant: {query}")
        return lambda _schema: f"SELECT to_jsonb(q)::text AS answer FROM ({named}) AS q"

    async def _compare(self, read: _Read, tenant: str) -> None:
        self._report.reads += 1
        old, new = await self._both(read, tenant)
        if old == new:
            return
        for _ in range(self._options.check_rounds):
            before = await self._both(read, tenant)
            await self._follower.drain(await self._follower.send_markers())
            after = await self._both(read, tenant)
            owner, other = (1, 0) if self._journal.adoption.is_switched else (0, 1)
            if before[owner] == after[other] or after[0] == after[1]:
                return
            if before[owner] == after[owner]:
                self._report.differences.append(
                    f"{read.name} of tenant {tenant}: {len(after[0])} rows in the old database, {len(after[1])} in "
                    f"{schema_name(self._routes.shard_of(tenant))}, first other row: {_first(after[0], after[1])}"
                )
                return
        self._report.busy += 1

    async def _both(self, read: _Read, tenant: str) -> tuple[Answer, Answer]:
        shard = self._routes.shard_of(tenant)
        server = self._session.servers[self._session.shard_map.server_of(shard).name]
        schema, path = self._routes.plan.schema, search_path(shard)
        old = await _ask(self._session.source, f"{quote(schema)}, public", read.sql(schema), tenant)
        new = await _ask(server, path, read.sql(schema_name(shard)), tenant)
        self._report.old_ms.append(old[1])
        self._report.shards_ms.append(new[1])
        return old[0], new[0]


async def _ask(conn: "Connection", path: str, sql: str, tenant: str) -> tuple[Answer, float]:
    try:
        async with conn.transaction(readonly=True):
            await conn.execute(f"SET LOCAL search_path = {path}")
            started_at = time.monotonic()
            rows = await fetch_rows(conn, sql, tenant)
    except asyncpg.SyntaxOrAccessError as error:
        raise AdoptRefused(f"a query cannot be asked on both sides: {error} ({sql})") from error
    return sorted(row["answer"] for row in rows), (time.monotonic() - started_at) * 1000


def _first(old: Answer, new: Answer) -> str:
    differing = sorted(set(old) ^ set(new))
    return differing[0][:200] if differing else "the same rows, another number of times"
