"""Growing the fleet: a new generation above every earlier ticket, through crashes and under load."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import pytest

from shardwright.errors import SetupInvalid
from shardwright.tickets import Fleet, Setup, SlotsExhausted, TicketOptions, Tickets
from shardwright.tickets.backends import backend_for

FreshDsn = Callable[[str], Awaitable[str]]
ByHand = Callable[..., Awaitable[list[tuple[Any, ...]]]]
DrawMany = Callable[[Fleet], Awaitable[set[int]]]


async def test_growing_never_repeats_a_number(
    fleet: Fleet, options: TicketOptions, draw_many: DrawMany
) -> None:
    await fleet.create_sequence("untouched", start_above=700)
    drawn = await draw_many(fleet)

    await fleet.grow(64)

    later = await draw_many(fleet)
    assert min(later) > max(drawn)
    assert {each % 64 for each in later} == {1, 2}
    async with await Tickets.open(list(fleet.servers.values()), options) as tickets:
        assert await tickets.next("untouched") > 700
    with pytest.raises(SetupInvalid, match="64 slots already"):
        await fleet.grow(64)


@pytest.mark.slow
async def test_growing_adds_slots_when_all_are_assigned(fresh_dsn: FreshDsn, draw_many: DrawMany) -> None:
    fleet = Fleet({"one": await fresh_dsn("mariadb"), "two": await fresh_dsn("postgresql")})
    with pytest.raises(SlotsExhausted, match="as many slots"):
        await fleet.initialize(slots=1)
    await fleet.initialize(slots=2)
    await fleet.create_sequence("photos")
    drawn = await draw_many(fleet)
    third = await fresh_dsn("postgresql")

    with pytest.raises(SlotsExhausted, match="grow"):
        await fleet.add_server("three", third)
    await fleet.grow(4)
    larger = await fleet.add_server("three", third)

    later = await draw_many(larger)
    assert drawn.isdisjoint(later)
    assert {each % 4 for each in later} == {1, 2, 3}


@pytest.mark.slow
async def test_clients_of_the_old_generation_are_fenced_and_follow(fleet: Fleet, tickets: Tickets) -> None:
    drawn: list[int] = []
    is_over = asyncio.Event()

    async def keep_drawing() -> None:
        while not is_over.is_set():
            drawn.append(await tickets.next("photos"))

    callers = [asyncio.create_task(keep_drawing()) for _ in range(6)]
    for slots in (32, 64, 128):
        await asyncio.sleep(0.05)
        await fleet.grow(slots)
    async with asyncio.timeout(60):
        # The callers notice, one server after the other.
        while not all(each.is_up and each.setup and each.setup.slots == 128 for each in tickets.status()):  # noqa: ASYNC110 - waits for another process
            await asyncio.sleep(0.02)
    is_over.set()
    await asyncio.gather(*callers)

    assert len(set(drawn)) == len(drawn)


@pytest.mark.parametrize("closed", [1, 2])
async def test_a_growth_that_crashed_is_finished_by_the_next(
    fleet: Fleet, closed: int, draw_many: DrawMany
) -> None:
    drawn = await draw_many(fleet)
    for dsn in list(fleet.servers.values())[:closed]:
        session = await backend_for(dsn).open_admin_session(5)
        await session.close_generation(32)
        await session.close()

    with pytest.raises(SetupInvalid, match="growth to 32 slots is under way"):
        await fleet.grow(64)
    with pytest.raises(SetupInvalid, match="call grow again"):
        await fleet.create_sequence("groups")
    await fleet.grow(32)

    later = await draw_many(fleet)
    assert min(later) > max(drawn)


async def test_a_growth_that_opened_one_server_only_is_finished_by_the_next(
    fleet: Fleet, options: TicketOptions, draw_many: DrawMany
) -> None:
    drawn = await draw_many(fleet)
    sessions = {name: await backend_for(dsn).open_admin_session(5) for name, dsn in fleet.servers.items()}
    for session in sessions.values():
        await session.close_generation(32)
    floors = {"photos": max([(await each.find_high_water_marks())["photos"] for each in sessions.values()])}
    setup = await sessions["one"].find_setup()
    assert setup is not None
    await sessions["one"].open_generation(Setup(setup.fleet, 2, 32, 1), floors)
    for session in sessions.values():
        await session.close()
    async with await Tickets.open(list(fleet.servers.values()), options) as tickets:
        half_way = {await tickets.next("photos") for _ in range(20)}

    await fleet.grow(32)

    later = await draw_many(fleet)
    assert min(half_way | later) > max(drawn)
    assert half_way.isdisjoint(later)


async def test_growing_without_a_lost_server_needs_a_floor(
    fleet: Fleet, options: TicketOptions, draw_many: DrawMany
) -> None:
    await draw_many(fleet)

    with pytest.raises(SetupInvalid, match="give start_above"):
        await fleet.grow(32, lost=["two"])
    await fleet.grow(32, lost=["two"], start_above=9_000)

    # The client sees one server ahead of the other, which therefore was given up.
    async with await Tickets.open(list(fleet.servers.values()), options) as tickets:
        drawn = [await tickets.next("photos") for _ in range(10)]
    assert min(drawn) > 9_000
    assert {each % 32 for each in drawn} == {1}


@pytest.mark.slow
async def test_a_draw_waiting_during_the_fencing_gets_no_ticket(
    fresh_dsn: FreshDsn, options: TicketOptions
) -> None:
    """A rename instead of a drop would let the waiting draw through, above the recorded high-water mark."""
    fleet = Fleet({"one": await fresh_dsn("postgresql")})
    await fleet.initialize()
    await fleet.create_sequence("photos")
    async with await Tickets.open(list(fleet.servers.values()), options) as tickets:
        before = await tickets.next("photos")
        driver: Any = asyncpg  # it ships without types
        blocker = await driver.connect(fleet.servers["one"])
        transaction = blocker.transaction()
        await transaction.start()
        await blocker.execute("ALTER SEQUENCE shardwright_tickets.photos_g1 NO CYCLE")
        growing = asyncio.create_task(fleet.grow(32))
        await asyncio.sleep(0.1)
        waiting = [asyncio.create_task(tickets.next("photos")) for _ in range(3)]
        await asyncio.sleep(0.1)
        await transaction.rollback()
        await growing
        after = await asyncio.gather(*waiting)
        await blocker.close()

    assert min(after) > before
    assert len(set(after)) == 3
