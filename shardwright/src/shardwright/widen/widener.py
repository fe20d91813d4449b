"""Widens integer columns of one schema to bigint while they are used, step by step; any step can be repeated."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import asyncpg

from shardwright.topology import fetch_rows, fetch_value, open_connection
from shardwright.widen import journal
from shardwright.widen.backfill import Backfill
from shardwright.widen.columns import describe_columns, find_columns
from shardwright.widen.definitions import read_definitions
from shardwright.widen.errors import WidenFailed, WidenRefused
from shardwright.widen.identity import exchange_identity
from shardwright.widen.journal import Widening, read_widening
from shardwright.widen.locks import try_advisory_lock, with_locks
from shardwright.widen.models import (
    Column,
    ColumnName,
    OnWidenProgress,
    Step,
    WidenOptions,
    WidenProgress,
    no_progress,
    quote,
)
from shardwright.widen.plan import IndexBuild, Plan
from shardwright.widen.refusals import check_columns, check_views
from shardwright.widen.statements import add_columns, drop_old_columns, remove_columns

if TYPE_CHECKING:
    from asyncpg import Connection

LOCK_CLASS = 0x53575749
"""The letters SWWI distinguish these advisory locks from others in the two-number space."""
_SETTINGS = {
    "application_name": "shardwright widen",
    "search_path": "pg_catalog",  # every name is printed with its schema
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "60s",
    "client_connection_check_interval": "5s",
}
_PREPARATIONS = 5
_INDEX = """\
SELECT i.indisvalid AS is_valid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2
"""
_CONSTRAINT = (
    "SELECT convalidated AS is_valid FROM pg_constraint WHERE conrelid = $1::text::regclass AND conname = $2"
)
_STATISTICS = """\
SELECT EXISTS (SELECT FROM pg_statistic_ext e JOIN pg_namespace n ON n.oid = e.stxnamespace
  WHERE n.nspname = $1 AND e.stxname = $2)
"""


class Widener:
    """Widens columns of one schema of one database. Connects directly, not through a transaction pooler."""

    def __init__(
        self,
        dsn: str,
        schema: str = "public",
        *,
        options: WidenOptions | None = None,
        progress: OnWidenProgress = no_progress,
    ) -> None:
        self._dsn = dsn
        self._schema = schema
        self._options = options or WidenOptions()
        self._progress = progress
        self.longest_lock_ms = 0.0
        """The longest time for which it has locked tables so far."""

    def _note_lock(self, held_ms: float) -> None:
        self.longest_lock_ms = max(self.longest_lock_ms, held_ms)

    async def plan(self, asked: Sequence[str]) -> list[ColumnName]:
        """The columns that would be widened together; raises when something is in the way. Nothing is changed."""
        async with self._open() as conn:
            columns = await find_columns(conn, self._names(asked))
            await check_columns(conn, columns, self._options)
        return [column.name for column in columns]

    async def status(self) -> Widening | None:
        """The widening in progress, if there is one."""
        async with self._open() as conn:
            return await read_widening(conn, self._schema)

    async def prepare(self, asked: Sequence[str]) -> Widening:
        """Add, fill, index and constrain new columns; everything but the exchange. Goes on where it stopped."""
        async with self._open_locked() as conn:
            widening = await read_widening(conn, self._schema)
            if widening is None:
                await self._add(conn, asked)
            elif set(widening.asked) != {str(name) for name in self._names(asked)}:
                raise WidenRefused(f"{widening} is not finished: finish or abort it first")
            return await self._prepare(conn)

    async def swap(self) -> Widening:
        """Exchange old and new columns in one short transaction."""
        async with self._open_locked() as conn:
            for _ in range(_PREPARATIONS):
                widening = await self._prepare(conn)
                if widening.step is Step.SWAPPED or await self._exchange(conn, widening):
                    return await self._get(conn)
                await journal.set_step(conn, self._schema, Step.FILLED)
            raise WidenFailed(
                "indexes or constraints of the columns keep changing: run the command again later"
            )

    async def abort(self) -> None:
        """Remove everything that was added, before the exchange."""
        async with self._open_locked() as conn:
            widening = await self._get(conn)
            if widening.step is Step.SWAPPED:
                raise WidenRefused(f"{widening}: the columns were exchanged already; finish it")
            columns = await describe_columns(conn, widening.columns)
            await self._change(conn, columns, remove_columns(columns), "removing new columns")

    async def finish(self) -> None:
        """Drop the old columns, after the exchange."""
        async with self._open_locked() as conn:
            widening = await self._get(conn)
            if widening.step is not Step.SWAPPED:
                raise WidenRefused(
                    f"{widening}: the columns were not exchanged yet; run `widen` again to go on"
                )
            columns = await describe_columns(conn, widening.columns)
            await self._change(conn, columns, drop_old_columns(columns), "dropping old columns")

    async def _change(
        self, conn: "Connection", columns: Sequence[Column], statements: Any, doing: str
    ) -> None:
        async def work() -> None:
            await conn.execute(";\n".join(statements))
            await journal.end(conn, self._schema)

        statements = list(statements)
        self._report(doing)
        await with_locks(conn, _tables(columns), work, self._options, self._note_lock)

    async def _add(self, conn: "Connection", asked: Sequence[str]) -> None:
        names = self._names(asked)
        columns = await find_columns(conn, names)
        await check_columns(conn, columns, self._options)

        async def work() -> None:
            await check_views(conn, (await read_definitions(conn, columns)).views)
            await conn.execute(";\n".join(add_columns(columns)))
            await journal.begin(
                conn, self._schema, [str(name) for name in names], [each.name for each in columns]
            )

        self._report("adding columns")
        await with_locks(conn, _tables(columns), work, self._options, self._note_lock)

    async def _prepare(self, conn: "Connection") -> Widening:
        widening = await self._get(conn)
        columns = await describe_columns(conn, widening.columns)
        if widening.step is Step.ADDED:
            await Backfill(conn, widening, self._options, self._progress).run(columns)
            await journal.set_step(conn, self._schema, Step.FILLED)
        if (await self._get(conn)).step is Step.FILLED:
            await self._build(conn, columns)
            await journal.set_step(conn, self._schema, Step.READY)
        return await self._get(conn)

    async def _build(self, conn: "Connection", columns: Sequence[Column]) -> None:
        plan = await self._read_plan(conn, columns)
        for index in plan.indexes():
            self._report(f"indexing {index.table}")
            await self._build_index(conn, index)
        for schema, name, sql in plan.statistics():
            if not await fetch_value(conn, _STATISTICS, schema, name):
                await conn.execute(sql)
        for constraint in plan.constraints():
            self._report(f"validating {constraint.table}")
            if not await fetch_rows(conn, _CONSTRAINT, constraint.table, constraint.name):
                await with_locks(
                    conn,
                    constraint.tables,
                    lambda sql=constraint.add_sql: conn.execute(sql),
                    self._options,
                    self._note_lock,
                    mode="SHARE ROW EXCLUSIVE",
                )
            if constraint.is_validated:
                await conn.execute(constraint.validate_sql)

    async def _build_index(self, conn: "Connection", index: IndexBuild) -> None:
        """Build it beside the writers; what an interrupted build left is dropped first."""
        for _ in range(self._options.lock_attempts):
            rows = await fetch_rows(conn, _INDEX, index.schema, index.name)
            if rows and rows[0]["is_valid"]:
                return
            if rows:
                await conn.execute(f"DROP INDEX CONCURRENTLY {quote(index.schema)}.{quote(index.name)}")
            try:
                await conn.execute(index.sql)
            except asyncpg.DeadlockDetectedError:  # builds of other shards wait for each other's snapshots
                continue
        raise WidenFailed(f"an index of {index.table} could not be built: run the command again")

    async def _read_plan(self, conn: "Connection", columns: Sequence[Column]) -> Plan:
        async def work() -> Plan:
            return await self._plan_under_lock(conn, columns)

        return await with_locks(conn, _tables(columns), work, self._options, self._note_lock)

    @staticmethod
    async def _plan_under_lock(conn: "Connection", columns: Sequence[Column]) -> Plan:
        major = int(await fetch_value(conn, "SHOW server_version_num")) // 10_000
        return Plan(await read_definitions(conn, columns), major)

    async def _exchange(self, conn: "Connection", widening: Widening) -> bool:
        """Exchange the columns; False when something was defined on them that has not been built yet."""
        columns = await describe_columns(conn, widening.columns)
        ready = await self._read_plan(conn, columns)
        if not await _is_built(conn, ready):
            return False
        await check_views(conn, ready.views)

        async def work() -> bool:
            plan = await self._plan_under_lock(conn, columns)
            if plan.requirements != ready.requirements:  # that those are met was looked up without the lock
                return False
            await conn.execute(";\n".join(plan.exchange()))
            for column, detail in plan.details:
                if detail["identity"]:
                    await exchange_identity(conn, column, detail)
            await journal.set_step(conn, self._schema, Step.SWAPPED)
            return True

        self._report("exchanging columns")
        return await with_locks(conn, ready.tables, work, self._options, self._note_lock)

    async def _get(self, conn: "Connection") -> Widening:
        widening = await read_widening(conn, self._schema)
        if widening is None:
            raise WidenRefused(f"nothing is being widened in {self._schema}")
        return widening

    def _names(self, asked: Sequence[str]) -> list[ColumnName]:
        return [ColumnName.parse(text, self._schema) for text in asked]

    def _report(self, doing: str) -> None:
        self._progress(WidenProgress(self._schema, doing))

    @asynccontextmanager
    async def _open(self) -> AsyncGenerator["Connection"]:
        conn = await open_connection(self._dsn, "the database", server_settings=_SETTINGS)
        try:
            yield conn
        finally:
            conn.terminate()  # a statement may still be running, and a graceful close would wait for it

    @asynccontextmanager
    async def _open_locked(self) -> AsyncGenerator["Connection"]:
        async with self._open() as conn:
            number = await fetch_value(conn, "SELECT hashtext($1)", self._schema)
            if not await try_advisory_lock(conn, LOCK_CLASS, number):
                raise WidenRefused(
                    f"another command widens columns of {self._schema}: wait until it has ended"
                )
            yield conn


async def _is_built(conn: "Connection", plan: Plan) -> bool:
    for index in plan.indexes():
        rows = await fetch_rows(conn, _INDEX, index.schema, index.name)
        if not rows or not rows[0]["is_valid"]:
            return False
    for constraint in plan.constraints():
        rows = await fetch_rows(conn, _CONSTRAINT, constraint.table, constraint.name)
        if not rows or rows[0]["is_valid"] < constraint.is_validated:
            return False
    return all([await fetch_value(conn, _STATISTICS, schema, name) for schema, name, _ in plan.statistics()])


def _tables(columns: Sequence[Column]) -> list[str]:
    return sorted({column.table for column in columns})
