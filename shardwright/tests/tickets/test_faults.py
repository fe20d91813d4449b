"""Ticket servers that die, hang or go backwards, under load."""

import asyncio
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import asyncpg
import pytest

from shardwright.errors import ServerUnavailable
from shardwright.local import LocalServer
from shardwright.tickets import Fleet, NoTicket, TicketOptions, Tickets

FreshDsn = Callable[[str], Awaitable[str]]
ByHand = Callable[..., Awaitable[list[tuple[Any, ...]]]]


class Mortal(Protocol):
    """A server that tests can crash and hang."""

    def start(self) -> None: ...
    def crash(self) -> None: ...
    def hang(self) -> None: ...
    def resume(self) -> None: ...
    def dsn(self, database: str) -> str: ...


class MortalPostgres(LocalServer):
    """A PostgreSQL that can be hung: the backends, too, stop answering."""

    def start(self) -> None:
        """Start, as soon as the last backends of the crashed server have released its shared memory."""
        deadline = time.monotonic() + 60
        while True:
            try:
                return super().start()
            except ServerUnavailable:
                if time.monotonic() > deadline:
                    raise

    def hang(self) -> None:
        self._signal_all(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, number: signal.Signals) -> None:
        postmaster = int((self.directory / "data" / "postmaster.pid").read_text().splitlines()[0])
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        for pid in (postmaster, *map(int, children)):
            os.kill(pid, number)


@pytest.fixture
def own_postgres(run_directory: Path) -> Iterator[MortalPostgres]:
    directory = Path(tempfile.mkdtemp(prefix=f"mortal-{os.getpid()}-", dir=run_directory))
    directory.chmod(0o711)
    server = MortalPostgres(directory / "server", settings={"shared_buffers": "16MB"})
    server.start()
    yield server
    server.stop(mode="immediate")
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(params=["postgres", "mariadb"])
async def mortal(request: pytest.FixtureRequest, by_hand: ByHand) -> tuple[Mortal, str]:
    """A server that may be killed, and the address of an empty database on it."""
    server: Mortal = request.getfixturevalue(f"own_{request.param}")
    if request.param == "mariadb":
        await by_hand(server.dsn(""), "CREATE DATABASE tickets")
        return server, server.dsn("tickets")
    return server, server.dsn("postgres")


async def found(one: str, two: str) -> Fleet:
    fleet = Fleet({"one": one, "two": two})
    await fleet.initialize()
    await fleet.create_sequence("photos")
    return fleet


class Load:
    """Callers that draw until they are stopped, and the tickets they got."""

    def __init__(self, tickets: Tickets, callers: int = 8) -> None:
        self.drawn: list[int] = []
        self.longest_s = 0.0
        self._is_over = False
        self._tickets = tickets
        self._callers = [asyncio.create_task(self._draw()) for _ in range(callers)]

    async def stop(self) -> None:
        self._is_over = True
        await asyncio.gather(*self._callers)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not condition():  # noqa: ASYNC110 - what is waited for happens in another process
                await asyncio.sleep(0.02)

    async def some_more(self, count: int = 200) -> None:
        goal = len(self.drawn) + count
        await self.until(lambda: len(self.drawn) >= goal)

    async def _draw(self) -> None:
        while not self._is_over:
            start = time.monotonic()
            if len(self.drawn) % 5:
                self.drawn.append(await self._tickets.next("photos"))
            else:
                self.drawn.extend(await self._tickets.next_batch("photos", 3))
            self.longest_s = max(self.longest_s, time.monotonic() - start)


@pytest.mark.slow
async def test_killing_a_server_under_load_repeats_no_ticket_and_it_recovers_by_itself(
    mortal: tuple[Mortal, str], fresh_dsn: FreshDsn, options: TicketOptions
) -> None:
    server, dsn = mortal
    fleet = await found(dsn, await fresh_dsn("postgresql"))
    async with await Tickets.open(list(fleet.servers.values()), options) as tickets:
        load = Load(tickets)
        for _ in range(3):
            await load.some_more()
            server.crash()
            await load.some_more()
            assert not tickets.status()[0].is_up
            await asyncio.to_thread(server.start)
            await load.until(lambda: tickets.status()[0].is_up)
        drawn_before = tickets.status()[0].tickets_drawn
        await load.until(lambda: tickets.status()[0].tickets_drawn > drawn_before)
        await load.stop()

    assert len(set(load.drawn)) == len(load.drawn)


@pytest.mark.slow
async def test_a_server_that_hangs_delays_callers_only_briefly(
    mortal: tuple[Mortal, str], fresh_dsn: FreshDsn, options: TicketOptions
) -> None:
    server, dsn = mortal
    fleet = await found(dsn, await fresh_dsn("postgresql"))
    async with await Tickets.open(list(fleet.servers.values()), options) as tickets:
        load = Load(tickets)
        await load.some_more()
        server.hang()
        try:
            await load.until(lambda: not tickets.status()[0].is_up)
            await load.some_more(500)
        finally:
            server.resume()
        await load.until(lambda: tickets.status()[0].is_up)
        await load.stop()

    assert len(set(load.drawn)) == len(load.drawn)
    # Not a matter of speed: a caller that waited for the hung server would have met the deadline and failed.
    assert load.longest_s < options.deadline_s


@pytest.mark.slow
async def test_with_every_server_down_callers_wait_for_one_or_get_the_reasons(
    mortal: tuple[Mortal, str], options: TicketOptions
) -> None:
    server, dsn = mortal
    fleet = Fleet({"one": dsn})
    await fleet.initialize()
    await fleet.create_sequence("photos")
    async with await Tickets.open([dsn], replace(options, deadline_s=0.7)) as hasty:
        first = await hasty.next("photos")
        server.crash()
        with pytest.raises(NoTicket, match="server 0"):
            await hasty.next("photos")
        with pytest.raises(ServerUnavailable):
            await fleet.create_sequence("groups")
    async with await Tickets.open([dsn], replace(options, deadline_s=60)) as patient:
        waiting = asyncio.create_task(patient.next("photos"))
        await asyncio.to_thread(server.start)
        assert await waiting > first


@pytest.mark.slow
async def test_a_server_whose_counter_went_backwards_is_not_used_again(
    own_postgres: MortalPostgres, fresh_dsn: FreshDsn, options: TicketOptions
) -> None:
    fleet = await found(own_postgres.dsn(), await fresh_dsn("postgresql"))
    async with await Tickets.open(list(fleet.servers.values()), options) as tickets:
        drawn = [await tickets.next("photos") for _ in range(20)]
        driver: Any = asyncpg  # it ships without types
        meddler = await driver.connect(own_postgres.dsn())
        await meddler.execute("SELECT setval('shardwright_tickets.photos_g1', 1)")
        await meddler.close()

        drawn += [await tickets.next("photos") for _ in range(20)]

        last_error = tickets.status()[0].last_error or ""
        assert "restored from a backup" in last_error
        assert len(set(drawn)) == 40


@pytest.mark.slow
async def test_plain_nextval_repeats_numbers_after_a_crash_and_our_draw_does_not(
    own_postgres: MortalPostgres, options: TicketOptions
) -> None:
    """The reserve logged by a session that never commits is drawn from by one that commits without waiting."""
    fleet = Fleet({"one": own_postgres.dsn()})
    await fleet.initialize()
    await fleet.create_sequence("photos")
    sequence = "shardwright_tickets.photos_g1"

    async def crash_after(draw: Callable[[], Awaitable[int]], *, beside: Any) -> tuple[int, int]:
        await beside.execute("CHECKPOINT")
        transaction = beside.transaction()
        await transaction.start()
        await beside.fetch(f"SELECT nextval('{sequence}') FROM generate_series(1, 80)")
        last = await draw()
        own_postgres.crash()
        own_postgres.start()
        beside.terminate()
        again = await driver.connect(own_postgres.dsn())
        following = await again.fetchval(f"SELECT nextval('{sequence}')")
        await again.close()
        return last, following

    driver: Any = asyncpg  # it ships without types
    plain = await driver.connect(own_postgres.dsn())
    last, following = await crash_after(
        lambda: plain.fetchval(f"SELECT nextval('{sequence}')"),
        beside=await driver.connect(own_postgres.dsn()),
    )
    plain.terminate()
    assert following <= last

    async with await Tickets.open([own_postgres.dsn()], options) as tickets:
        last, following = await crash_after(
            lambda: tickets.next("photos"), beside=await driver.connect(own_postgres.dsn())
        )
    assert following > last
