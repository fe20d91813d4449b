"""An installation with a replica whose replay can be stopped: what it answers from then on is what was there before."""

import contextlib
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

import asyncpg
import pytest
from httpx import AsyncClient

from shardwright.routing import PoolOptions
from tests.stack.conftest import execute, fetch_value, reachable_folder
from tests.support import eventually
from tintype import wiring
from tintype.base.settings import Settings
from tintype.schema import apply_schema
from tintype.stack import Stack, read_replicas
from tintype.wiring import Rooms, open_rooms

_PAUSE_STATE = "SELECT pg_get_wal_replay_pause_state()"


@dataclass(frozen=True)
class LaggingSite:
    """The rooms of an installation with one replica, which answers however far it is behind."""

    rooms: Rooms
    primary: str
    replica: str

    async def pause_replay(self, client: AsyncClient, path: str) -> None:
        """Let the replica catch up, answer this request, which reads a list there, and apply nothing more."""

        async def has_caught_up() -> bool:
            [status] = await read_replicas({"pg1": self.primary}, {"pg1": [self.replica]})
            return status.lag_bytes == 0

        async def answers() -> bool:
            before = self.count_replica_reads()
            await client.get(f"/api/v1{path}")
            return self.count_replica_reads() > before

        async def is_paused() -> bool:
            return await fetch_value(self.replica, _PAUSE_STATE) == "paused"

        await eventually(has_caught_up, what="the replica catches up")
        await eventually(answers, what="the replica answers reads")
        await execute(self.replica, "SELECT pg_wal_replay_pause()")
        await eventually(is_paused, what="the replica stops its replay")

    async def resume_replay(self) -> None:
        """Let the replica follow again; what it replays first may cancel the very statement that has let it."""
        with contextlib.suppress(asyncpg.SerializationError):
            await execute(self.replica, "SELECT pg_wal_replay_resume()")

    def count_replica_reads(self) -> int:
        """How many reads the replica has answered."""
        replicas = self.rooms.shards.server_for(next(iter(self.rooms.shards.map.owners))).replicas
        assert replicas is not None
        return replicas.reads


@asynccontextmanager
async def open_lagging_site() -> AsyncGenerator[LaggingSite]:
    """Servers of its own, since their WAL holds everything that anybody writes there."""
    pool_options = wiring.pool_options

    def with_any_lag(settings: Settings, process: str) -> PoolOptions:
        return replace(pool_options(settings, process), replica_lag_limit_s=3_600.0)

    with reachable_folder() as folder:
        async with Stack(folder / "home", replicas=1, engines_only=True, durable=False) as stack:
            found = stack.connections
            settings = Settings(
                home=folder / "home",
                postgres=found.postgres,
                postgres_replicas=found.postgres_replicas,
                redis=found.redis,
                nats=found.nats,
                namespace="test_replicas",
                secret_key="not a secret in tests",
                shard_count=2,
                log_level="error",
            )
            await apply_schema(settings)
            async with AsyncExitStack() as opened:
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(wiring, "pool_options", with_any_lag)
                    rooms = await opened.enter_async_context(open_rooms(settings, process="tests"))
                yield LaggingSite(rooms, found.postgres[0], found.postgres_replicas[0].partition("=")[2])
