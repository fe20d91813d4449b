"""Calls for a second connection by a task that holds one are found; connections one after another are not."""

import asyncio
from contextvars import Context

from tests.held_connections import SecondConnections
from tintype.wiring import Rooms


async def test_a_read_inside_a_transaction_is_found(
    rooms: Rooms, second_connections: SecondConnections
) -> None:
    first, other = rooms.shards.shard(0), rooms.shards.shard(1)

    async with first.begin():
        await other.raw.fetch_value("SELECT 1")

    assert "test_a_read_inside_a_transaction_is_found" in "".join(second_connections.take())


async def test_a_task_started_inside_a_transaction_holds_its_connection_too(
    rooms: Rooms, second_connections: SecondConnections
) -> None:
    async with rooms.shards.shard(0).begin():
        await asyncio.create_task(rooms.shards.shard(1).raw.fetch_value("SELECT 1"))

    assert second_connections.take()


async def test_connections_one_after_another_and_of_others_are_not(
    rooms: Rooms, second_connections: SecondConnections
) -> None:
    shard = rooms.shards.shard(0)

    async with shard.begin():
        pass
    await shard.raw.fetch_value("SELECT 1")
    async with shard.begin():
        others = rooms.shards.shard(1).raw.fetch_value("SELECT 1")
        await asyncio.create_task(others, context=Context())

    assert not second_connections.take()
