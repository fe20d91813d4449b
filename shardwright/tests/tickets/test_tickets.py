import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import asyncpg
import pytest

from shardwright.errors import SetupInvalid
from shardwright.tickets import Fleet, SequenceUnknown, TicketOptions, Tickets

FreshDsn = Callable[[str], Awaitable[str]]
ByHand = Callable[..., Awaitable[list[tuple[Any, ...]]]]


async def test_the_first_tickets_come_from_both_servers_in_turn(tickets: Tickets) -> None:
    drawn = [await tickets.next("photos") for _ in range(6)]

    assert sorted(drawn) == [1, 2, 17, 18, 33, 34]
    assert {each % 16 for each in drawn[::2]} != {each % 16 for each in drawn[1::2]}


async def test_two_servers_with_two_slots_give_odd_and_even_numbers(
    fresh_dsn: FreshDsn, options: TicketOptions
) -> None:
    fleet = Fleet({"odd": await fresh_dsn("mariadb"), "even": await fresh_dsn("postgresql")})
    await fleet.initialize(slots=2)
    await fleet.create_sequence("photos")

    async with await Tickets.open([fleet.servers["odd"]], options) as odd:
        assert [await odd.next("photos") for _ in range(3)] == [1, 3, 5]
    async with await Tickets.open([fleet.servers["even"]], options) as even:
        assert [await even.next("photos") for _ in range(3)] == [2, 4, 6]


async def test_many_callers_never_share_a_ticket(fleet: Fleet, options: TicketOptions) -> None:
    async def draw_all(tickets: Tickets) -> list[int]:
        singles = asyncio.gather(*(tickets.next("photos") for _ in range(100)))
        batches = await asyncio.gather(*(tickets.next_batch("photos", 7) for _ in range(20)))
        return [*await singles, *(each for batch in batches for each in batch)]

    dsns = list(fleet.servers.values())
    async with await Tickets.open(dsns, options) as one, await Tickets.open(dsns, options) as two:
        drawn = [each for found in await asyncio.gather(draw_all(one), draw_all(two)) for each in found]

    assert len(set(drawn)) == len(drawn) == 480


async def test_a_batch_has_the_size_asked_for_and_ascends(tickets: Tickets) -> None:
    batch = await tickets.next_batch("photos", 2_345)

    assert len(set(batch)) == 2_345
    assert batch == sorted(batch)
    assert await tickets.next("photos") not in batch
    with pytest.raises(SetupInvalid, match="at least one"):
        await tickets.next_batch("photos", 0)


async def test_each_sequence_counts_separately(fleet: Fleet, tickets: Tickets) -> None:
    await fleet.create_sequence("groups")
    await tickets.next_batch("photos", 100)

    assert await tickets.next("groups") in (1, 2)


async def test_an_unknown_sequence_is_refused_without_marking_servers_down(tickets: Tickets) -> None:
    with pytest.raises(SequenceUnknown, match="create it first"):
        await tickets.next("typos")
    with pytest.raises(SetupInvalid, match="cannot name a sequence"):
        await tickets.next("x; DROP TABLE y")

    assert all(each.is_up for each in tickets.status())


async def test_a_prefetching_client_returns_every_ticket_once(fleet: Fleet, options: TicketOptions) -> None:
    dsns = list(fleet.servers.values())
    async with await Tickets.open(dsns, replace(options, prefetch=20)) as tickets:
        drawn = await asyncio.gather(*(tickets.next("photos") for _ in range(300)))
        with pytest.raises(SequenceUnknown):
            await tickets.next("typos")

    assert len(set(drawn)) == 300


async def test_a_cancelled_caller_leaves_the_client_usable(fleet: Fleet, options: TicketOptions) -> None:
    dsns = list(fleet.servers.values())
    async with await Tickets.open(dsns, options) as tickets:
        callers = [asyncio.create_task(tickets.next("photos")) for _ in range(20)]
        await asyncio.sleep(0.001)
        for caller in callers[::2]:
            caller.cancel()
        finished = await asyncio.gather(*callers, return_exceptions=True)
        drawn = [each for each in finished if isinstance(each, int)]

        assert len(set(drawn)) == len(drawn) >= 10
        assert await tickets.next("photos") not in drawn


def test_invalid_options_are_refused() -> None:
    with pytest.raises(SetupInvalid, match="above zero"):
        TicketOptions(attempt_s=0)
    with pytest.raises(SetupInvalid, match="at least one"):
        Tickets([])
    with pytest.raises(SetupInvalid, match="postgresql:// or mysql://"):
        Tickets(["redis://localhost"])


@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
async def test_an_account_that_may_only_draw_can_draw(
    fresh_dsn: FreshDsn, by_hand: ByHand, options: TicketOptions, kind: str
) -> None:
    driver: Any = asyncpg  # it ships without types
    dsn = await fresh_dsn(kind)
    fleet = Fleet({"one": dsn})
    await fleet.initialize()
    await fleet.create_sequence("photos")
    address, _, database = dsn.rpartition("/")
    host = address.rpartition("@")[2]
    if kind == "mariadb":
        rights = f"GRANT SELECT, INSERT, DELETE ON {database}.* TO clerk_{database}@'127.0.0.1'"
        await by_hand(dsn, f"CREATE USER clerk_{database}@'127.0.0.1' IDENTIFIED BY 'pen'", rights)
        clerk = f"mysql://clerk_{database}:pen@{host}/{database}"
    else:
        connection = await driver.connect(dsn)
        await connection.execute(
            f"CREATE ROLE clerk_{database} LOGIN PASSWORD 'pen';"
            f"GRANT USAGE ON SCHEMA shardwright_tickets TO clerk_{database};"
            f"GRANT SELECT ON shardwright_tickets.setup TO clerk_{database};"
            f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA shardwright_tickets TO clerk_{database}"
        )
        await connection.close()
        clerk = f"postgresql://clerk_{database}:pen@{host}/{database}"

    async with await Tickets.open([clerk], options) as tickets:
        assert await tickets.next("photos") == 1
        assert len(await tickets.next_batch("photos", 5)) == 5

    if kind == "postgresql":
        connection = await driver.connect(dsn)
        await connection.execute(f"DROP OWNED BY clerk_{database}; DROP ROLE clerk_{database}")
        await connection.close()


async def test_a_connection_that_lost_its_step_is_detected_by_its_ticket(
    fresh_dsn: FreshDsn, options: TicketOptions
) -> None:
    fleet = Fleet({"one": await fresh_dsn("mariadb"), "two": await fresh_dsn("postgresql")})
    await fleet.initialize()
    await fleet.create_sequence("photos")
    async with await Tickets.open(list(fleet.servers.values()), options) as tickets:
        meddled: Any = tickets._servers[0]._idle[0]  # what a proxy that mixes up sessions would do
        await meddled.connection.run("SET SESSION auto_increment_increment = 1, auto_increment_offset = 1")
        drawn = [await tickets.next("photos") for _ in range(4)]
        drawn += [await tickets.next("photos") for _ in range(4)]

        assert {each % 16 for each in drawn} <= {1, 2}
        assert len(set(drawn)) == 8
