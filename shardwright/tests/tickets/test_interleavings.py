"""Any interleaving of drawing, growing, adding and raising: no number is repeated."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shardwright.tickets import Fleet, Setup, TicketOptions, Tickets
from shardwright.tickets.models import first_above, is_of_slot

FreshDsn = Callable[[str], Awaitable[str]]

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("draw"), st.integers(1, 30)),
        st.tuples(st.just("batch"), st.integers(1, 30)),
        st.tuples(st.just("raise"), st.integers(0, 5_000)),
        st.tuples(st.just("add"), st.sampled_from([0, 1])),
        st.tuples(st.just("grow"), st.integers(1, 5)),
        st.tuples(st.just("reopen"), st.just(0)),
    ),
    min_size=3,
    max_size=10,
)


class World:
    """A fleet, a client that is reopened now and then, and one that never is."""

    def __init__(self, fleet: Fleet, slots: int, fresh_dsn: FreshDsn, options: TicketOptions) -> None:
        self.fleet, self.slots, self.fresh_dsn, self.options = fleet, slots, fresh_dsn, options
        self.drawn: list[int] = []

    async def live_through(self, steps: list[tuple[str, int]]) -> None:
        self.old = await Tickets.open(list(self.fleet.servers.values()), self.options)
        self.fresh = await Tickets.open(list(self.fleet.servers.values()), self.options)
        try:
            for verb, number in steps:
                await getattr(self, verb)(number)
            await self.draw(10)
        finally:
            await self.old.close()
            await self.fresh.close()

    async def draw(self, count: int) -> None:
        callers = [(self.old, self.fresh)[turn % 2].next("photos") for turn in range(count)]
        self.drawn += await asyncio.gather(*callers)

    async def batch(self, count: int) -> None:
        found = await asyncio.gather(*(each.next_batch("photos", count) for each in (self.old, self.fresh)))
        self.drawn += [ticket for batch in found for ticket in batch]

    async def add(self, kind: int) -> None:
        if len(self.fleet.servers) < min(self.slots, 4):
            dsn = await self.fresh_dsn(("postgresql", "mariadb")[kind])
            self.fleet = await self.fleet.add_server(f"s{len(self.fleet.servers) + 1}", dsn)

    async def grow(self, by: int) -> None:
        self.slots += by
        await asyncio.gather(self.fleet.grow(self.slots), self.draw(6))

    async def reopen(self, _: int) -> None:
        await self.fresh.close()
        self.fresh = await Tickets.open(list(self.fleet.servers.values()), self.options)


# `raise` is a word of Python's, so the method cannot be written under that name.
async def _raise(self: World, above: int) -> None:
    await self.fleet.create_sequence("photos", start_above=above)


setattr(World, "raise", _raise)


@pytest.mark.slow
async def test_no_schedule_of_changes_makes_a_number_come_twice(
    fresh_dsn: FreshDsn, options: TicketOptions
) -> None:
    loop = asyncio.get_running_loop()

    async def check(steps: list[tuple[str, int]]) -> None:
        servers = {"s1": await fresh_dsn("mariadb"), "s2": await fresh_dsn("postgresql")}
        fleet = Fleet(servers)
        await fleet.initialize(slots=3)
        await fleet.create_sequence("photos")
        world = World(fleet, 3, fresh_dsn, options)
        await world.live_through(steps)
        assert len(set(world.drawn)) == len(world.drawn)

    # Hypothesis calls plain functions, so it runs beside the loop and hands each schedule over to it.
    @settings(max_examples=12, deadline=None, database=None)
    @given(STEPS)
    def explore(steps: list[tuple[str, int]]) -> None:
        asyncio.run_coroutine_threadsafe(check(steps), loop).result(timeout=120)

    await asyncio.to_thread(explore)


@given(st.integers(0, 2**62), st.integers(1, 65_535), st.data())
def test_the_first_ticket_above_a_floor_is_of_the_slot_and_the_nearest(
    floor: int, slots: int, data: st.DataObject
) -> None:
    setup = Setup("f", 1, slots, data.draw(st.integers(1, slots)))

    ticket = first_above(floor, setup)

    assert floor < ticket <= floor + slots
    assert is_of_slot(ticket, setup)
