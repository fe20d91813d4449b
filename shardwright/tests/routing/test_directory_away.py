"""Routers that start while the directory is away, from the map that was written last."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest
from routing_test_cluster import QUERIES, make_posts

from shardwright.errors import NotOwner, ServerUnavailable
from shardwright.local import LocalServer
from shardwright.routing import PoolOptions, Shards
from shardwright.topology import Directory, creation_sql, open_connection, set_owned


async def _make_directory(dsn: str, servers: Mapping[str, str]) -> Directory:
    directory = await Directory.open(dsn)
    await directory.create()
    for name, address in servers.items():
        await directory.add_server(name, address)
    await directory.add_shards(4, prepare=make_posts)
    return directory


async def _move_by_hand(directory: Directory, number: int, source: str, target: str) -> None:
    """Make the target own an empty shard of the source, as the end of a move does."""
    found = await directory.load()
    there = await open_connection(found.servers[target].dsn, target)
    await there.execute(creation_sql(number, found.layout))
    await make_posts(there, number)
    await there.close()
    here = await open_connection(found.servers[source].dsn, source)
    await set_owned(here, number, owned=False)
    await here.close()
    await directory.change(found.version, lambda old: old.with_owner(target, number))


@pytest.mark.slow
async def test_a_router_opens_while_the_directory_is_away_and_learns_the_new_map_when_it_is_back(
    servers: Mapping[str, LocalServer],
    own_server: LocalServer,
    fresh_database: Callable[[LocalServer], Awaitable[str]],
    tmp_path: Path,
) -> None:
    dsns = {name: await fresh_database(server) for name, server in servers.items()}
    directory = await _make_directory(own_server.dsn(), dsns)
    file, options = tmp_path / "map.json", PoolOptions(not_owner_wait_s=0.1)

    async def open_router(map_file: Path | None = file) -> Shards:
        return await Shards.open(own_server.dsn(), queries=[QUERIES], options=options, map_file=map_file)

    first = await open_router()
    number = first.map.shards_on("a")[0]
    await first.close()
    await _move_by_hand(directory, number, "a", "b")
    await asyncio.to_thread(own_server.stop)

    with pytest.raises(ServerUnavailable):
        await open_router(None)
    shards = await open_router()
    assert shards.map.owners[number] == "a"  # as it was
    other = shards.map.shards_on("b")[0]
    assert await shards.shard(other).fetch_value(QUERIES.add, author_id=1, caption="served")
    with pytest.raises(NotOwner):
        await shards.shard(number).execute(QUERIES.put, id=1, author_id=1, caption="refused")

    await asyncio.to_thread(own_server.start)
    async with asyncio.timeout(60):
        while shards.map.owners[number] != "b":  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)
    assert await shards.shard(number).execute(QUERIES.put, id=1, author_id=1, caption="taken") == 1
    await shards.close()
    await asyncio.to_thread(own_server.stop)
    late = await open_router()
    assert late.map.owners[number] == "b"  # the newer map was written as well
    await late.close()
    await directory.close()
