"""Initializing a fleet, adding servers, and mistakes that must not lead to repeated numbers."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.tickets import Fleet, Setup, TicketOptions, Tickets
from shardwright.tickets.backends import backend_for

FreshDsn = Callable[[str], Awaitable[str]]
ByHand = Callable[..., Awaitable[list[tuple[Any, ...]]]]
DrawMany = Callable[[Fleet], Awaitable[set[int]]]


async def test_initializing_again_changes_nothing(fleet: Fleet, draw_many: DrawMany) -> None:
    before = await fleet.find_setups()
    drawn = await draw_many(fleet)

    await fleet.initialize()
    await fleet.create_sequence("photos")

    assert await fleet.find_setups() == before
    assert drawn.isdisjoint(await draw_many(fleet))
    with pytest.raises(SetupInvalid, match="already"):
        await fleet.initialize(slots=32)


async def test_a_sequence_starts_above_an_old_counter(fleet: Fleet, options: TicketOptions) -> None:
    await fleet.create_sequence("accounts", start_above=123_456)

    async with await Tickets.open(list(fleet.servers.values()), options) as tickets:
        drawn = [await tickets.next("accounts") for _ in range(4)]

    # 123,456 is a multiple of 16, so the two slots follow at once.
    assert sorted(drawn) == [123_457, 123_458, 123_473, 123_474]


async def test_creating_again_only_ever_raises(fleet: Fleet, tickets: Tickets) -> None:
    await fleet.create_sequence("photos", start_above=1_000)
    first = [await tickets.next("photos") for _ in range(2)]
    await fleet.create_sequence("photos", start_above=500)
    second = [await tickets.next("photos") for _ in range(2)]

    assert min(first) > 1_000
    assert min(second) > max(first)
    with pytest.raises(SetupInvalid, match="none lies above"):
        await fleet.create_sequence("photos", start_above=2**63 - 1)


@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
async def test_a_server_added_later_draws_in_a_slot_of_its_own(
    fleet: Fleet, fresh_dsn: FreshDsn, kind: str, draw_many: DrawMany
) -> None:
    await fleet.create_sequence("photos", start_above=5_000)
    drawn = await draw_many(fleet)

    larger = await fleet.add_server("three", await fresh_dsn(kind))

    # Alone, it must not give what lies below the old counter either.
    alone = await draw_many(Fleet({"three": larger.servers["three"]}))
    assert {each % 16 for each in alone} == {3}
    assert min(alone) > 5_000
    assert drawn.isdisjoint(alone)
    assert (drawn | alone).isdisjoint(await draw_many(larger))


@pytest.mark.slow
async def test_a_slot_is_never_assigned_twice(fleet: Fleet, fresh_dsn: FreshDsn) -> None:
    larger = await fleet.add_server("three", await fresh_dsn("postgresql"))

    with pytest.raises(SetupInvalid, match="Name these servers"):
        await fleet.add_server("four", await fresh_dsn("postgresql"))
    with pytest.raises(SetupInvalid, match="add it under a new name"):
        await larger.add_server("three", await fresh_dsn("postgresql"))
    with pytest.raises(SetupInvalid, match="already serves tickets"):
        await larger.add_server("again", larger.servers["three"])
    # The third machine burnt down: its slot goes with it.
    again = await fleet.add_server("four", await fresh_dsn("postgresql"), lost=["three"])
    found = (await Fleet({"four": again.servers["four"]}).find_setups())["four"]
    assert found is not None
    assert found.slot == 4


async def test_a_wiped_server_is_not_set_up_as_if_it_were_new(fleet: Fleet, fresh_dsn: FreshDsn) -> None:
    wiped = Fleet(fleet.servers | {"two": await fresh_dsn("postgresql")})

    with pytest.raises(SetupInvalid, match="has lost its set-up"):
        await wiped.initialize()


async def test_an_interrupted_initialization_is_finished_by_the_next(fresh_dsn: FreshDsn) -> None:
    fleet = Fleet({"one": await fresh_dsn("postgresql"), "two": await fresh_dsn("mariadb")})
    session = await backend_for(fleet.servers["one"]).open_admin_session(5)
    await session.install(Setup("f", 1, 16, 1), [])
    await session.close()

    await fleet.initialize()

    assert await fleet.find_setups() == {"one": Setup("f", 1, 16, 1), "two": Setup("f", 1, 16, 2)}


@pytest.mark.slow
async def test_only_one_admin_session_changes_a_server_at_a_time(fleet: Fleet) -> None:
    hasty = Fleet(fleet.servers, timeout_s=0.2)
    session = await backend_for(fleet.servers["two"]).open_admin_session(5)
    try:
        with pytest.raises(ServerUnavailable, match="Another admin session"):
            await hasty.create_sequence("groups")
    finally:
        await session.close()

    await hasty.create_sequence("groups")


async def test_servers_of_different_fleets_do_not_mix(fresh_dsn: FreshDsn, options: TicketOptions) -> None:
    mine, theirs = Fleet({"one": await fresh_dsn("postgresql")}), Fleet({"one": await fresh_dsn("mariadb")})
    for fleet in (mine, theirs):
        await fleet.initialize()

    with pytest.raises(SetupInvalid, match="different fleets"):
        await Tickets.open([mine.servers["one"], theirs.servers["one"]], options)
    with pytest.raises(SetupInvalid, match="different fleets"):
        await Fleet({"one": mine.servers["one"], "two": theirs.servers["one"]}).create_sequence("photos")


@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
async def test_the_same_server_twice_is_refused(
    fresh_dsn: FreshDsn, options: TicketOptions, kind: str
) -> None:
    dsn = await fresh_dsn(kind)
    await Fleet({"one": dsn}).initialize()

    with pytest.raises(SetupInvalid, match="claim slot 1"):
        await Tickets.open([dsn, dsn], options)


@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
async def test_a_database_without_tickets_says_so(
    fresh_dsn: FreshDsn, options: TicketOptions, kind: str
) -> None:
    dsn = await fresh_dsn(kind)

    with pytest.raises(SetupInvalid, match="initialize the fleet first"):
        await Tickets.open([dsn], options)
    with pytest.raises(SetupInvalid, match="initialize it first"):
        await Fleet({"one": dsn}).create_sequence("photos")


async def test_a_server_without_durable_settings_is_refused(fresh_dsn: FreshDsn, by_hand: ByHand) -> None:
    forgetful, hasty = await fresh_dsn("postgresql"), await fresh_dsn("mariadb")
    await Fleet({"one": forgetful}).initialize()
    await Fleet({"one": hasty}).initialize()

    with pytest.raises(SetupInvalid, match="fsync off"):
        await Tickets.open([forgetful])
    try:
        await by_hand(hasty, "SET GLOBAL innodb_flush_log_at_trx_commit = 2")
        with pytest.raises(SetupInvalid, match="innodb_flush_log_at_trx_commit is 2"):
            await Tickets.open([hasty])
    finally:
        await by_hand(hasty, "SET GLOBAL innodb_flush_log_at_trx_commit = 1")


async def test_the_table_keeps_one_row_however_many_were_drawn(
    fresh_dsn: FreshDsn, by_hand: ByHand, draw_many: DrawMany
) -> None:
    fleet = Fleet({"one": await fresh_dsn("mariadb")})
    await fleet.initialize()
    await fleet.create_sequence("photos")
    drawn = await draw_many(fleet)

    rows = await by_hand(fleet.servers["one"], "SELECT id FROM ticket_photos_g1")

    assert rows == [(max(drawn),)]
