"""One server as the router sees it: its connections, its dispatch functions, its numbers."""

import asyncio
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

import asyncpg

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.ids import schema_name
from shardwright.running.breaker import Breaker
from shardwright.running.dispatch import Form, Wanted
from shardwright.running.installing import Installed, Installer, collect_unused
from shardwright.running.links import Link, local_settings
from shardwright.running.metrics import ServerCounts
from shardwright.running.options import PoolOptions
from shardwright.running.pools import GRACE_S, Pool
from shardwright.running.queries import Query
from shardwright.topology import Server

if TYPE_CHECKING:
    from asyncpg.prepared_stmt import PreparedStatement

EVERYWHERE = "everywhere"
FIRST_KEEP_S = 600.0
KEEP_S = 86_400.0
# The server or the way to it failed; whether the statement happened is a question of when.
LOST = (OSError, asyncpg.PostgresConnectionError, asyncpg.AdminShutdownError, asyncpg.CrashShutdownError)


class ServerRouter:
    """Everything about one server; statements go out here."""

    def __init__(self, server: Server, options: PoolOptions) -> None:
        self.server = server
        self.breaker = Breaker(server.name, allowed=options.breaker_failures, rest_s=options.breaker_rest_s)
        self.points = Pool(server, options, self.breaker, for_gather=False)
        self.gathers = Pool(server, options, self.breaker, for_gather=True)
        self.counts = ServerCounts()
        self._numbers: list[int] = []
        self._installed: dict[Wanted, Installed] = {}
        self._installing = asyncio.Lock()
        self._keep_at = time.monotonic() + FIRST_KEEP_S
        self.local_settings = local_settings(options)
        self.statement_timeout_s = options.statement_timeout_s + GRACE_S  # the server's own limit comes first

    def deal(self, numbers: list[int]) -> None:
        """The server holds these shards now."""
        self._numbers = numbers
        self.points.deal(numbers)
        self.gathers.deal(numbers)

    async def install(self, wanted: Iterable[Wanted]) -> None:
        """These queries have their functions on the server, as far as their tables are there."""
        missing = [each for each in wanted if each not in self._installed]
        if not missing or not self._numbers:
            return
        async with self._installing:
            link = await self.borrow(self.points, self._numbers[0])
            try:
                installer = Installer(self._numbers[0])
                self._installed |= await installer.install(link.conn, missing)
            except BaseException as error:
                self.settle(self.points, link, error)
                raise
            self.points.give(link)

    async def ping(self) -> None:
        """The server answers; one that holds no shard is not asked, since nothing depends on it."""
        if not self._numbers:
            return
        link = await self.borrow(self.points, self._numbers[0])
        try:
            await link.conn.execute("SELECT 1")
        except BaseException as error:
            self.settle(self.points, link, error)
            raise
        self.points.give(link)

    async def keep_functions(self) -> None:
        """Once a day: the server knows that our functions are in use, and those nobody uses are gone."""
        if time.monotonic() < self._keep_at or not self._numbers:
            return
        self._keep_at = time.monotonic() + KEEP_S
        link = await self.borrow(self.points, self._numbers[0])
        try:
            installer = Installer(self._numbers[0])
            await installer.install(link.conn, list(self._installed))
            await collect_unused(link.conn)
        except BaseException as error:
            self.settle(self.points, link, error)
            raise
        self.points.give(link)

    def forget(self, queries: Iterable[Query]) -> None:
        """What is known about these queries is looked up anew."""
        gone = set(queries)
        self._installed = {key: value for key, value in self._installed.items() if key[0] not in gone}
        for link in [*self.points.links, *self.gathers.links]:
            link.statements = {key: value for key, value in link.statements.items() if key[0] not in gone}

    async def prepare(self, link: Link, query: Query, form: str) -> "PreparedStatement":
        """The statement that calls the query's function, ready on this connection."""
        statement = await self._prepare(link, query, form, None)
        link.statements[query, form] = statement
        return statement

    async def prepare_hot(self, link: Link, query: Query, number: int) -> "PreparedStatement":
        """The query itself, ready on this connection for one shard."""
        statement = await self._prepare(link, query, Form.POINT, schema_name(number))
        link.statements[query, number] = statement
        return statement

    async def _prepare(self, link: Link, query: Query, form: str, schema: str | None) -> "PreparedStatement":
        wanted = Wanted(query, Form.GATHER if form == Form.GATHER else Form.POINT)
        try:
            installed = self._installed.get(wanted) or await self._install_one(wanted, link)
            if schema is not None:
                return await link.conn.prepare(installed.text(schema))
            sql = installed.call_everywhere(query) if form == EVERYWHERE else installed.call(wanted)
            return await link.conn.prepare(sql)
        except LOST as error:
            raise ServerUnavailable(f"server {self.server.name} was lost: {error!r}") from error

    async def borrow(self, pool: Pool, number: int) -> Link:
        """A connection for a shard, cleaned if somebody had it raw."""
        return await self.finish_borrowing(pool, pool.take(number), number)

    async def finish_borrowing(self, pool: Pool, link: Link | None, number: int) -> Link:
        """The slow half of borrowing: wait for a connection, or clean the one found."""
        if link is None:
            link = await pool.wait(number)
        if link.is_dirty:
            try:
                await link.clean()
            except BaseException as error:
                self.settle(pool, link, error)
                raise
        return link

    def settle(self, pool: Pool, link: Link, error: BaseException) -> None:
        """A statement failed: the connection goes back, is healed or is replaced, and the failure counts.

        Raises `ServerUnavailable` where the statement provably never left, `TimeoutError` where the pool cut
        the connection because time was up.
        """
        self.counts.calls += 1
        self.counts.errors[getattr(error, "sqlstate", None) or type(error).__name__] += 1
        if isinstance(error, (*LOST, TimeoutError)):  # an overdue connection is cut, so it counts as lost
            self.breaker.failed()
        elif isinstance(error, asyncpg.PostgresError):
            self.breaker.succeeded()
        was_closed = link.conn.is_closed() or _is_unusable(error)
        if was_closed:
            link.conn.terminate()
        if (
            was_closed
            or link.conn.is_in_transaction()
            or not isinstance(error, asyncpg.PostgresError | ValueError)
        ):
            pool.heal(link)
        else:
            pool.give(link)
        if link.is_overdue:
            raise TimeoutError(f"server {self.server.name} did not answer in time") from error
        if was_closed and isinstance(error, asyncpg.InterfaceError | asyncpg.InternalClientError):
            raise ServerUnavailable(f"a connection to server {self.server.name} was closed") from error

    async def close(self) -> None:
        """No connection to the server is open."""
        await asyncio.gather(self.points.close(), self.gathers.close())

    async def _install_one(self, wanted: Wanted, link: Link) -> Installed:
        """Install over the caller's own connection: waiting for a second one could wait for ever."""
        if not self._numbers:
            raise ServerUnavailable(f"server {self.server.name} holds no shards")
        installer = Installer(self._numbers[0])
        found = await installer.install(link.conn, [wanted])
        if wanted not in found:
            await installer.shape(link.conn, wanted.query)  # says what is missing
            raise SetupInvalid(f"query {wanted.query.name} cannot be installed on server {self.server.name}")
        self._installed |= found
        return found[wanted]


def _is_unusable(error: BaseException) -> bool:
    """Whether asyncpg refused to send because the server's farewell was read but its end not yet seen."""
    return isinstance(error, asyncpg.InternalClientError) and "cannot switch to state" in str(error)
