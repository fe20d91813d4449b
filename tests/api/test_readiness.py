"""What `/readyz` says, and who is served, while an engine is away."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from httpx import AsyncClient

from shardwright.local import LocalServer
from tests.application import serve
from tests.support import join
from tintype.base.settings import Settings
from tintype.schema import apply_schema
from tintype.wiring import Rooms, open_rooms


@asynccontextmanager
async def _serve_two_servers(
    settings: Settings, folder: Path
) -> AsyncGenerator[tuple[Settings, AsyncClient, Rooms, dict[str, LocalServer]]]:
    servers = {
        name: LocalServer(folder / name, durable=False, settings={"shared_buffers": "32MB"})
        for name in ("pg1", "pg2")
    }
    try:
        for server in servers.values():
            await asyncio.to_thread(server.start)
        own = msgspec.structs.replace(
            settings,
            postgres=tuple(server.dsn() for server in servers.values()),
            postgres_migrator=(),
            postgres_admin=(),
            namespace=f"{settings.namespace}_readiness",
            shard_count=4,
        )
        await apply_schema(own)
        async with open_rooms(own, process="tests") as rooms, serve(rooms) as client:
            yield own, client, rooms, servers
    finally:
        for server in servers.values():
            await asyncio.to_thread(server.stop, mode="immediate")


@pytest.mark.slow
async def test_one_server_away_degrades_and_leaves_the_others_in_service(
    settings: Settings, run_folder: Path
) -> None:
    folder = Path(tempfile.mkdtemp(prefix="readiness-", dir=run_folder))
    folder.chmod(0o711)  # noqa: ASYNC240 - one call; the account that runs the servers passes through
    async with _serve_two_servers(settings, folder) as (own, client, rooms, servers):
        people = [await join(client, f"ready{number}") for number in range(8)]
        staying = [each for each in people if rooms.shards.owner(int(each.account_id)).server == "pg1"]
        assert staying

        await asyncio.to_thread(servers["pg2"].crash)

        answer = await client.get("/readyz")
        told = answer.json()
        assert (answer.status_code, told["is_ready"], told["is_degraded"]) == (200, True, True)
        assert {name for name, each in told["engines"].items() if not each["is_ready"]} == {"postgres pg2"}
        for each in staying:
            assert (await each.call("GET", "/accounts/me")).status_code == 200
            assert (await each.call("POST", "/collections", json={"name": "Harbours"})).status_code == 201

        # The directory is on pg1. Who starts while it is away has the map of those that run.
        await asyncio.to_thread(servers["pg2"].start)
        await asyncio.to_thread(servers["pg1"].crash)
        async with open_rooms(own, process="tests") as late, serve(late) as elsewhere:
            answer = await elsewhere.get("/readyz")
            assert (answer.status_code, answer.json()["is_degraded"]) == (200, True)
            there = replace(next(each for each in people if each not in staying), client=elsewhere)
            assert (await there.call("GET", "/accounts/me")).status_code == 200
            assert (await there.call("POST", "/collections", json={"name": "Harbours"})).status_code == 201
        await asyncio.to_thread(servers["pg2"].crash)

        answer = await client.get("/readyz")
        assert (answer.status_code, answer.json()["is_ready"]) == (503, False)
