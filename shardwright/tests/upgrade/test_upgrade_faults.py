"""Upgrades that meet locks, transfers of shards, each other, unreachable servers and failing steps."""

import asyncio

import asyncpg
import pytest
from old_installation import SHARDS, Installation, shards_behind, wait_until

from shardwright.errors import ServerUnavailable
from shardwright.migrations import (
    LOCK_CLASS,
    MigratorOptions,
    Release,
    Step,
    UpgradeFailed,
    read_library_status,
    upgrade_library,
)
from shardwright.topology import (
    LIBRARY_VERSION,
    Directory,
    guard_function_sql,
    is_owned,
    open_connection,
)

QUICK = MigratorOptions(lock_timeout_ms=50)


@pytest.mark.slow
async def test_a_shard_that_is_given_away_meanwhile_stays_given_away(installation: Installation) -> None:
    """The transfer is open while the upgrade reaches the shard, which waits for it and then reads the guard."""
    conn = await open_connection(installation.dsns["b"], "b")
    transfer = conn.transaction()
    await transfer.start()
    await conn.execute(guard_function_sql(3, owned=False))

    upgrading = asyncio.create_task(upgrade_library(installation.directory, options=QUICK))
    await wait_until(lambda: is_upgraded(installation, 1))
    await transfer.commit()
    await upgrading

    assert (await read_library_status(installation.directory)).behind == 0
    assert not await is_owned(conn, 3)
    await conn.close()


async def is_upgraded(installation: Installation, number: int) -> bool:
    return number not in await shards_behind(installation)


@pytest.mark.slow
async def test_nobody_gives_a_shard_away_between_reading_and_writing_its_guard(
    installation: Installation,
) -> None:
    gate = 0x5357
    step = Step(
        LIBRARY_VERSION,
        "shard",
        "wait",
        f"SELECT CASE '@schema@' WHEN 's0003' THEN pg_advisory_xact_lock({gate}) END",
    )
    holder = await open_connection(installation.dsns["b"], "b")
    mover = await open_connection(installation.dsns["b"], "b")
    await holder.execute(f"SELECT pg_advisory_lock({gate})")
    patient = MigratorOptions(lock_timeout_ms=60_000)
    upgrading = asyncio.create_task(
        upgrade_library(installation.directory, release=Release(LIBRARY_VERSION, (step,)), options=patient)
    )
    await wait_until(lambda: is_waited_for(installation, f"objid = {gate}"))

    giving = asyncio.create_task(give_away(mover))
    await wait_until(lambda: is_done_or_waiting(installation, giving))
    await holder.close()
    await upgrading
    try:
        await giving
    except asyncpg.InternalServerError:  # "tuple concurrently updated": who moves the shard tries again
        await give_away(mover)

    assert not await is_owned(mover, 3)
    await mover.close()


async def give_away(mover: asyncpg.Connection) -> None:
    await mover.execute(guard_function_sql(3, owned=False))


async def is_waited_for(installation: Installation, lock: str) -> bool:
    count = await installation.value("b", f"SELECT count(*) FROM pg_locks WHERE NOT granted AND {lock}")
    return count != 0


async def is_done_or_waiting(installation: Installation, giving: asyncio.Task[None]) -> bool:
    return giving.done() or await is_waited_for(installation, "locktype = 'transactionid'")


@pytest.mark.slow
async def test_two_upgrades_at_once_take_turns(installation: Installation) -> None:
    await asyncio.gather(*(upgrade_library(installation.directory, options=QUICK) for _ in range(3)))

    assert (await read_library_status(installation.directory)).behind == 0


@pytest.mark.slow
async def test_a_locked_shard_delays_itself_alone_and_then_fails(installation: Installation) -> None:
    release = Release(
        LIBRARY_VERSION + 1,
        (Step(LIBRARY_VERSION + 1, "shard", "widen the sequence", "ALTER SEQUENCE @schema@.ids CACHE 2"),),
    )
    impatient = MigratorOptions(lock_timeout_ms=20, attempts=2)
    conn = await open_connection(installation.dsns["a"], "a")
    async with conn.transaction():
        await conn.execute("SELECT s0002.next_id()")
        with pytest.raises(UpgradeFailed, match=r"s0002 on a: .*lock timeout"):
            await upgrade_library(installation.directory, release=release, options=impatient)
    await conn.close()

    status = await read_library_status(installation.directory, release)
    assert [status.shards_behind(each) for each in status.servers] == [[2], []]
    await upgrade_library(installation.directory, release=release)
    assert (await read_library_status(installation.directory, release)).behind == 0
    assert (
        await installation.shard_value(
            2, "SELECT seqcache FROM pg_sequence WHERE seqrelid = '@.ids'::regclass"
        )
        == 2
    )


@pytest.mark.slow
async def test_a_failing_step_is_rolled_back_and_tried_again(installation: Installation) -> None:
    version = LIBRARY_VERSION + 1
    wrong = Release(version, (Step(version, "shard", "wrong", "CREATE TABLE @schema@.log (); SELECT 1 / 0"),))
    with pytest.raises(UpgradeFailed, match="division by zero") as failed:
        await upgrade_library(installation.directory, release=wrong)

    assert set(failed.value.report.failed) == {"s0000 on a", "s0001 on b"}
    assert await shards_behind(installation) == set(range(SHARDS))
    assert await installation.shard_value(0, "SELECT to_regclass('@.log')") is None
    await upgrade_library(installation.directory, release=Release(version, ()))
    assert await installation.shard_value(0, "SELECT @.library_version()") == version


async def test_an_unreachable_server_or_another_servers_database_changes_nothing(
    installation: Installation,
) -> None:
    broken = {"b": installation.dsns["b"].replace("/test_", "/missing_")}
    swapped = {"a": installation.dsns["b"], "b": installation.dsns["a"]}
    for dsns, reason in ((broken, "does not exist"), (swapped, "leads to the database of another server")):
        directory = await Directory.open(installation.dsns["a"], dsns=dsns)
        with pytest.raises(ServerUnavailable, match=f"nothing was upgraded: (.|\n)*{reason}"):
            await upgrade_library(directory)
        await directory.close()

    assert (await read_library_status(installation.directory)).behind == 1 + 2 + SHARDS


@pytest.mark.slow
async def test_a_shard_held_by_a_migrator_is_waited_for(installation: Installation) -> None:
    impatient = MigratorOptions(busy_timeout_s=0.1)
    conn = await open_connection(installation.dsns["a"], "a")
    await conn.execute(f"SELECT pg_advisory_lock({LOCK_CLASS}, 6)")

    with pytest.raises(UpgradeFailed, match=r"s0006 on a: another migrator has held it for 0\.1 s"):
        await upgrade_library(installation.directory, options=impatient)
    await conn.close()

    await upgrade_library(installation.directory)
    assert (await read_library_status(installation.directory)).behind == 0
