"""Liveness and readiness, for load balancers and supervisors. Metrics have a port of their own."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial

from litestar import Response, get

from tintype.api.http.dependencies import InjectedRooms
from tintype.api.views.health import EngineHealth, Readiness

TIMEOUT_S = 2.0


@get("/healthz", summary="Alive", tags=["Operations"], sync_to_thread=False)
def healthz() -> dict[str, str]:
    """Liveness: the process answers. The engines are not checked."""
    return {"status": "alive"}


@get("/readyz", summary="Ready", tags=["Operations"])
async def readyz(rooms: InjectedRooms) -> Response[Readiness]:
    """Readiness: ping every engine in parallel, with a timeout; 503 when no PostgreSQL server answers.

    Every web process sees the same engines: if one server's absence took a process out of service, all would go
    with it, and lock out those whose shards are elsewhere.
    """
    servers = {f"postgres {name}": name for name in rooms.shards.map.servers}
    checks: dict[str, Callable[[], Awaitable[object]]] = {
        engine: partial(rooms.shards.ping, name) for engine, name in servers.items()
    }
    checks["redis"] = rooms.redis.ping
    checks["nats"] = rooms.nats.flush
    found = await asyncio.gather(*(_check(ping) for ping in checks.values()))
    engines = dict(zip(checks, found, strict=True))
    is_ready = any(
        engines[engine].is_ready for engine, name in servers.items() if rooms.shards.map.shards_on(name)
    )
    is_degraded = not all(each.is_ready for each in found)
    return Response(Readiness(is_ready, is_degraded, engines), status_code=200 if is_ready else 503)


async def _check(ping: Callable[[], Awaitable[object]]) -> EngineHealth:
    started = time.perf_counter()
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await ping()
    except Exception as error:  # noqa: BLE001 - any failure means that the engine is not ready
        return EngineHealth(is_ready=False, latency_ms=_elapsed_ms(started), error=type(error).__name__)
    return EngineHealth(is_ready=True, latency_ms=_elapsed_ms(started))


def _elapsed_ms(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 2)
