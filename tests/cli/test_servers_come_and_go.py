"""A server is added to a site that runs, gets shards, and is removed again; no process is started anew for it."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from httpx import AsyncClient
from typer.testing import CliRunner, Result

from tests.support import eventually, join, make_databases, on_server, with_roles
from tests.web_process import open_web
from tests.workers import run_worker
from tintype.base.settings import Settings
from tintype.cli.entry import build_app
from tintype.schema import apply_schema
from tintype.wiring import Rooms, open_rooms

NAME = "come_and_go"
_SERVERS = "SELECT name FROM shardwright_directory.servers ORDER BY 1"
_OWNERS = "SELECT DISTINCT server AS name FROM shardwright_directory.shards ORDER BY 1"
_OUTBOX = "SELECT count(*) AS written, common.count_waiting_events() AS waiting FROM common.outbox"
_HELD = """
SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'come_and_go_runtime'
"""


@dataclass(frozen=True)
class Site:
    """A web process and a worker that were started when there was one server, and the settings of the operator."""

    client: AsyncClient
    rooms: Rooms
    settings: Settings

    async def shards(self, *words: str) -> Result:
        """Run `tintype shards …`."""
        return await asyncio.to_thread(CliRunner().invoke, build_app(["shards"]), ["shards", *words])

    async def names(self, sql: str) -> list[str]:
        """What the directory says."""
        return [row["name"] for row in await on_server(self.settings.postgres_admin[0], sql)]


@pytest.fixture
async def site(
    settings: Settings, engines: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Site]:
    databases = tuple(await make_databases(engines["postgres"], NAME))
    before = await with_roles(
        msgspec.structs.replace(settings, namespace=NAME, shard_count=4, postgres_admin=databases[:1])
    )
    await apply_schema(before)
    after = msgspec.structs.replace(
        before,
        postgres_admin=databases,
        postgres=_and_second(before.postgres, databases[1]),
        postgres_migrator=_and_second(before.postgres_migrator, databases[1]),
    )
    for name in ("postgres", "postgres_admin", "postgres_migrator", "nats"):
        monkeypatch.setenv(f"TINTYPE_{name.upper()}", json.dumps(getattr(after, name)))
    for name in ("home", "redis", "namespace", "secret_key", "shard_count"):
        monkeypatch.setenv(f"TINTYPE_{name.upper()}", str(getattr(after, name)))
    with open_web(before) as web:
        async with (
            open_rooms(before, process="worker") as rooms,
            run_worker(rooms, schedules=()),
            AsyncClient(base_url=web.address, timeout=30) as client,
        ):
            yield Site(client, rooms, after)
    for dsn in engines["postgres"]:
        await on_server(dsn, f'DROP DATABASE "{NAME}" WITH (FORCE)')


def _and_second(dsns: tuple[str, ...], database: str) -> tuple[str, ...]:
    """The address of the first server, and of this database as the same role."""
    return (*dsns, f"{dsns[0].rpartition('@')[0]}@{database.rpartition('@')[2]}")


@pytest.mark.slow
async def test_a_server_comes_and_goes_while_the_site_runs(site: Site) -> None:
    await join(site.client, "early")
    pg2 = site.settings.postgres_admin[1]

    added = await site.shards("add-server", "pg2")
    assert added.exit_code == 0, added.output + repr(added.exception)
    split = await site.shards("split", "pg1", "--to", "pg2", "--sample", "0")
    assert split.exit_code == 0, split.output
    assert await site.names(_OWNERS) == ["pg1", "pg2"]

    people = [await join(site.client, f"late{number}") for number in range(8)]
    assert [(await each.call("GET", "/accounts/me")).status_code for each in people] == [200] * 8
    assert {site.rooms.shards.owner(int(each.account_id)).server for each in people} == {"pg1", "pg2"}
    assert (await site.client.get("/readyz")).status_code == 200

    async def is_relayed() -> bool:
        [row] = await on_server(pg2, _OUTBOX)
        return row["written"] > 0 and row["waiting"] == 0

    await eventually(is_relayed, what="the running worker relays the events of the new server")

    refused = await site.shards("remove-server", "pg2")
    assert refused.exit_code == 1
    assert "it owns 2 shards" in refused.output
    assert "drain pg2" in refused.output
    assert "the directory" in (await site.shards("remove-server", "pg1")).output
    drained = await site.shards("drain", "pg2", "--sample", "0", "--keep", "1h")
    assert drained.exit_code == 0, drained.output
    assert "keeps old copies" in (await site.shards("remove-server", "pg2")).output
    [move] = json.loads((await site.shards("move", "status", "--json")).stdout)
    assert (await site.shards("move", "finish", str(move["move"]))).exit_code == 0

    async def is_removed() -> bool:
        removed = await site.shards("remove-server", "pg2", "--json")
        assert removed.exit_code == 0 or "wait to be relayed" in removed.output, removed.output
        return removed.exit_code == 0

    await eventually(is_removed, what="pg2 is removed once its events are relayed")
    assert [(await each.call("GET", "/accounts/me")).status_code for each in people] == [200] * 8

    async def is_left_alone() -> bool:
        [row] = await on_server(pg2, _HELD)
        return row["count"] == 0

    await eventually(is_left_alone, what="web and worker close their connections to it")
    await apply_schema(site.settings)  # which still name it
    assert await site.names(_SERVERS) == ["pg1"]
    assert (await site.shards("add-server", "pg2")).exit_code == 0
    assert await site.names(_SERVERS) == ["pg1", "pg2"]
