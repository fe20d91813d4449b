"""The directory: the shard map, changed by compare-and-set."""

import asyncio

import asyncpg
import pytest

from shardwright.errors import MapChanged, ServerUnavailable, SetupInvalid
from shardwright.ids import Layout
from shardwright.topology import (
    Directory,
    Server,
    ShardMap,
    fetch_rows,
    fetch_value,
    hash_key,
    open_connection,
)


async def test_creating_a_directory_twice_changes_nothing(empty_dsns: dict[str, str]) -> None:
    directory = await Directory.open(empty_dsns["a"])
    first = await directory.create(layout=Layout(1_700_000_000_000), lookup_shards=16)

    assert await directory.create() == first
    assert (first.layout.epoch_ms, first.lookup_shards, first.version) == (1_700_000_000_000, 16, 1)


async def test_epoch_and_lookup_shards_of_a_directory_cannot_change(empty_dsns: dict[str, str]) -> None:
    directory = await Directory.open(empty_dsns["a"])
    await directory.create(lookup_shards=16)

    with pytest.raises(SetupInvalid, match="epoch"):
        await directory.create(layout=Layout(1_700_000_000_000))
    with pytest.raises(SetupInvalid, match="lookup shards"):
        await directory.create(lookup_shards=17)


async def test_a_database_without_directory_tables_is_reported(empty_dsns: dict[str, str]) -> None:
    directory = await Directory.open(empty_dsns["a"])

    with pytest.raises(SetupInvalid, match="create it first"):
        await directory.load()


async def test_an_unreachable_directory_is_reported() -> None:
    with pytest.raises(ServerUnavailable, match="directory does not answer"):
        await Directory.open("postgresql://nobody@127.0.0.1:9/none")


async def test_shards_are_spread_over_the_servers(directory: Directory) -> None:
    made = await directory.add_shards(9)

    assert sorted(made.owners) == list(range(9))
    assert {len(made.shards_on("a")), len(made.shards_on("b"))} == {4, 5}
    assert made.lookup_shards == 9
    assert await directory.load() == made


@pytest.mark.slow
async def test_more_shards_can_be_added_at_any_time(directory: Directory) -> None:
    await directory.add_shards(4)
    grown = await directory.add_shards(3)

    assert sorted(grown.owners) == list(range(7))
    assert grown.lookup_shards == 4


@pytest.mark.slow
async def test_shards_up_to_a_total_are_created_once(directory: Directory) -> None:
    first = await directory.ensure_shards(5)

    assert await directory.ensure_shards(5) == first
    assert len((await directory.ensure_shards(6)).owners) == 6


async def test_there_are_no_more_shards_than_an_id_can_contain(directory: Directory) -> None:
    with pytest.raises(SetupInvalid, match="8192"):
        await directory.add_shards(8193)
    assert not (await directory.load()).owners


async def test_a_new_shard_generates_ids_and_is_owned(directory: Directory, dsns: dict[str, str]) -> None:
    made = await directory.add_shards(3)
    for number, name in made.owners.items():
        conn = await open_connection(dsns[name], name)
        new_id = await fetch_value(conn, f"SELECT s{number:04d}.next_id()")
        assert made.layout.id_shard(new_id) == number
        await conn.close()


async def test_shards_are_prepared_before_they_are_in_the_map(directory: Directory) -> None:
    seen: list[tuple[int, bool]] = []

    async def prepare(conn: asyncpg.Connection, number: int) -> None:
        await conn.execute(f"CREATE TABLE s{number:04d}.notes (id bigint PRIMARY KEY)")
        seen.append((number, number in (await directory.load()).owners))

    reported: list[tuple[int, int]] = []
    await directory.add_shards(
        4, prepare=prepare, progress=lambda done, total: reported.append((done, total))
    )

    assert sorted(seen) == [(number, False) for number in range(4)]
    assert reported[-1] == (4, 4)


@pytest.mark.slow
async def test_an_interrupted_creation_is_finished_by_the_next(directory: Directory) -> None:
    async def fail_at_three(_: asyncpg.Connection, number: int) -> None:
        if number == 3:
            raise RuntimeError("the power went out")

    with pytest.raises(RuntimeError, match="power"):
        await directory.ensure_shards(6, prepare=fail_at_three)
    assert not (await directory.load()).owners

    prepared: list[int] = []

    async def prepare(_: asyncpg.Connection, number: int) -> None:
        prepared.append(number)

    finished = await directory.ensure_shards(6, prepare=prepare)
    assert sorted(finished.owners) == sorted(prepared) == list(range(6))


@pytest.mark.slow
async def test_shards_can_be_added_concurrently(directory: Directory) -> None:
    await asyncio.gather(*(directory.add_shards(5) for _ in range(4)))

    assert sorted((await directory.load()).owners) == list(range(20))


async def test_a_change_based_on_an_old_map_is_refused(directory: Directory) -> None:
    old = await directory.add_shards(2)
    await directory.change(old.version, lambda latest: latest.with_owner("a", 0, 1))

    with pytest.raises(MapChanged):
        await directory.change(old.version, lambda latest: latest.with_owner("b", 0, 1))
    assert set((await directory.load()).owners.values()) == {"a"}


@pytest.mark.slow
async def test_of_many_concurrent_changes_of_one_version_exactly_one_wins(directory: Directory) -> None:
    old = await directory.add_shards(4)

    async def move(number: int) -> bool:
        try:
            await directory.change(old.version, lambda latest: latest.with_weight(number, 2.0))
        except MapChanged:
            return False
        return True

    assert sum(await asyncio.gather(*(move(number) for number in range(4)))) == 1
    latest = await directory.load()
    assert (latest.version, len(latest.weights)) == (old.version + 1, 1)


async def test_a_refused_change_changes_nothing(directory: Directory) -> None:
    old = await directory.add_shards(2)

    with pytest.raises(SetupInvalid):
        await directory.change(old.version, lambda latest: latest.with_owner("nowhere", 0))
    assert await directory.load() == old


async def test_a_known_server_gets_its_new_weight(directory: Directory, dsns: dict[str, str]) -> None:
    before = await directory.load()
    changed = await directory.add_server("b", dsns["b"], weight=2.0, accepts_new=False)

    assert changed.servers["b"] == Server("b", dsns["b"], 2.0, accepts_new=False)
    assert changed.version == before.version + 1
    assert await directory.add_server("b", dsns["b"], weight=2.0, accepts_new=False) == changed


async def test_one_database_is_not_two_servers(directory: Directory, dsns: dict[str, str]) -> None:
    with pytest.raises(SetupInvalid, match="already belongs to server 'b'"):
        await directory.add_server("c", dsns["b"])
    assert "c" not in (await directory.load()).servers


@pytest.mark.slow
async def test_passwords_need_not_be_in_the_directory(directory: Directory, dsns: dict[str, str]) -> None:
    mine = await Directory.open(dsns["a"], dsns={"b": dsns["b"]})
    await mine.add_server("b", "postgresql://server-b/app")

    assert (await directory.load()).servers["b"].dsn == "postgresql://server-b/app"
    reached = await mine.add_shards(4)
    assert reached.servers["b"].dsn == dsns["b"]
    assert (await directory.load()).servers["b"].dsn == "postgresql://server-b/app"


async def test_sql_and_python_agree_on_lookup_shards(directory: Directory, dsns: dict[str, str]) -> None:
    made = await directory.add_shards(7)
    keys = ["ana", "zoë", "", "🌅", "a" * 1000]
    conn = await open_connection(dsns["b"], "b")

    rows = await fetch_rows(conn, "SELECT shardwright.lookup_shard(k, 7) FROM unnest($1::text[]) k", keys)
    assert (
        [row[0] for row in rows]
        == [made.lookup_shard(key) for key in keys]
        == [hash_key(k) % 7 for k in keys]
    )
    await conn.close()


async def test_a_watcher_is_notified_of_a_change(directory: Directory) -> None:
    seen: asyncio.Queue[ShardMap] = asyncio.Queue()
    directory.watch(seen.put_nowait, poll_s=3600)
    async with asyncio.timeout(20):
        first = await seen.get()
        made = await directory.add_shards(2)
        while (latest := await seen.get()).version < made.version:
            pass

    assert first.version < made.version
    assert latest == made


@pytest.mark.slow
async def test_a_watcher_survives_the_loss_of_its_connection(directory: Directory) -> None:
    seen: asyncio.Queue[ShardMap] = asyncio.Queue()
    directory.watch(seen.put_nowait, poll_s=3600)
    async with asyncio.timeout(20):
        await seen.get()
        async with directory.connect() as conn:
            await conn.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND query LIKE 'LISTEN%'"
            )
        made = await directory.add_shards(1)
        while (latest := await seen.get()).version < made.version:
            pass
    assert latest.owners == made.owners


async def test_a_watcher_polls_where_notifications_do_not_pass(directory: Directory) -> None:
    seen: asyncio.Queue[ShardMap] = asyncio.Queue()
    directory.watch(seen.put_nowait, poll_s=0.05)
    async with asyncio.timeout(20):
        first = await seen.get()
        async with directory.connect() as conn:
            await conn.execute("UPDATE shardwright_directory.settings SET map_version = map_version + 1")
        assert (await seen.get()).version == first.version + 1
