"""After a fail-over the worker relays the outbox of the new primary, without a restart."""

import asyncio
import tempfile
from pathlib import Path

import msgspec
import pytest

from shardwright.local import LocalServer, make_standby
from tests.application import serve
from tests.support import PASSWORD, eventually, on_server
from tests.workers import run_worker
from tintype.base.settings import Settings
from tintype.schema import apply_schema, enter_replicas
from tintype.wiring import open_rooms
from tintype.worker import process

_OUTBOX = "SELECT count(*) AS written, common.count_waiting_events() AS waiting FROM common.outbox"


@pytest.mark.slow
@pytest.mark.parametrize("is_named_as", ["replica", "host"])
async def test_events_written_at_a_promoted_replica_are_relayed(
    settings: Settings, run_folder: Path, monkeypatch: pytest.MonkeyPatch, is_named_as: str
) -> None:
    monkeypatch.setattr(process, "WATCH_SERVERS_EVERY_S", 0.1)
    folder = Path(tempfile.mkdtemp(prefix="failover-", dir=run_folder))
    folder.chmod(0o711)  # noqa: ASYNC240 - one call; the account that runs the servers passes through
    primary = LocalServer(folder / "primary", durable=False, settings={"shared_buffers": "32MB"})
    started = [primary]
    try:
        await asyncio.to_thread(primary.start)
        own = msgspec.structs.replace(
            settings,
            postgres=(primary.dsn(),),
            postgres_migrator=(),
            postgres_admin=(),
            namespace=f"{settings.namespace}_failover_{is_named_as}",
            shard_count=2,
        )
        await apply_schema(own)
        standby = await asyncio.to_thread(make_standby, primary, folder / "standby")
        started.append(standby)
        if is_named_as == "replica":
            own = msgspec.structs.replace(own, postgres_replicas=(f"pg1={standby.dsn()}",))
            assert await enter_replicas(own) == {}
        else:
            hosts = primary.dsn().replace(f":{primary.port}/", f":{primary.port},127.0.0.1:{standby.port}/")
            own = msgspec.structs.replace(own, postgres=(hosts,))
        async with (
            open_rooms(own, process="tests") as rooms,
            run_worker(rooms, schedules=()),
            serve(rooms) as client,
        ):
            await asyncio.to_thread(primary.crash)
            await asyncio.to_thread(standby.promote)

            async def has_joined() -> bool:
                person = {"username": "late", "password": PASSWORD}
                return (await client.post("/api/v1/accounts", json=person)).status_code == 201

            async def is_relayed() -> bool:
                [row] = await on_server(standby.dsn(), _OUTBOX)
                return row["written"] > 0 and row["waiting"] == 0

            await eventually(has_joined, what="the promoted replica is written to")
            await eventually(is_relayed, what="its events are relayed")
    finally:
        for server in reversed(started):
            await asyncio.to_thread(server.stop, mode="immediate")
