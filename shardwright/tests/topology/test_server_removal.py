"""A server is removed once it holds nothing, and says what is in the way until then."""

from collections.abc import Awaitable, Callable, Mapping

import pytest

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.local import LocalServer
from shardwright.routing import Shards
from shardwright.topology import Directory, fetch_value, open_connection

FreshDatabase = Callable[[LocalServer], Awaitable[str]]


@pytest.fixture
async def third(
    directory: Directory, servers: Mapping[str, LocalServer], fresh_database: FreshDatabase
) -> str:
    """The address of a server `c`, which has no shards; `a` and `b` have some."""
    dsn = await fresh_database(servers["b"])
    await directory.add_shards(4)
    await directory.add_server("c", dsn)
    return dsn


async def test_routers_forget_a_server_that_was_removed_and_its_database_is_free(
    directory: Directory, dsns: dict[str, str], third: str
) -> None:
    async with await Shards.open(dsns["a"]) as shards:
        assert "c" in shards.counts
        left = await directory.remove_server("c")
        await shards.refresh()
        assert sorted(shards.counts) == sorted(left.servers) == ["a", "b"]
    assert await directory.removed_servers() == {"c"}

    await directory.add_server("d", third)
    await directory.remove_server("d")
    await directory.add_server("c", third)
    assert await directory.removed_servers() == {"d"}


async def test_everything_that_is_in_the_way_is_named_at_once(
    directory: Directory, dsns: dict[str, str], third: str
) -> None:
    with pytest.raises(SetupInvalid) as refused:
        await directory.remove_server("a")
    assert "it owns 2 shards (s0000, s0002): run `shardwright drain a`" in str(refused.value)
    assert "the directory" in str(refused.value)

    conn = await open_connection(third, "c")
    await conn.execute(
        "CREATE SCHEMA s0000; CREATE FUNCTION s0000.guard() RETURNS int LANGUAGE sql AS 'SELECT 1'"
    )
    with pytest.raises(
        SetupInvalid, match=r"copies of shards that no move accounts for \(s0000\).*move sweep"
    ):
        await directory.remove_server("c")
    await conn.execute("DROP SCHEMA s0000 CASCADE")
    await conn.close()

    found = await directory.load()
    await directory.change(found.version, lambda old: old.with_replicas("c", "db3:5433"))
    with pytest.raises(SetupInvalid, match="run `shardwright remove-replica c db3:5433`"):
        await directory.remove_server("c")
    async with directory.connect() as journal:
        await journal.execute(
            "INSERT INTO shardwright_directory.moves (name, shards, source, target, step) VALUES "
            "('one', '{1}', 'c', 'a', 'keep'), ('two', '{2}', 'b', 'c', 'copy')"
        )
        with pytest.raises(SetupInvalid, match=r"(?s)move finish 1.*move resume 2"):
            await directory.remove_server("c", is_lost=True)
        assert await fetch_value(journal, "SELECT count(*) FROM shardwright_directory.servers") == 3
    with pytest.raises(SetupInvalid, match="no server 'z'"):
        await directory.remove_server("z")


async def test_a_server_that_is_lost_is_removed_without_being_asked(
    directory: Directory, dsns: dict[str, str], third: str
) -> None:
    lost = await Directory.open(dsns["a"], dsns={"c": third.rpartition("@")[0] + "@127.0.0.1:9/none"})

    with pytest.raises(ServerUnavailable):
        await lost.remove_server("c")
    assert sorted((await lost.remove_server("c", is_lost=True)).servers) == ["a", "b"]
    await lost.close()
