"""Is it alive, is it ready, and how does it fare: for load balancers, supervisors and Prometheus."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial

import msgspec
from litestar import Response, get
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest, multiprocess
from prometheus_client import REGISTRY as DEFAULT_REGISTRY

from tintype.api.given import House
from tintype.base.metrics import OF_THIS_PROCESS, shared_folder

PATIENCE_S = 2.0


class EngineHealth(msgspec.Struct, frozen=True):
    """Whether an engine answers, and how fast."""

    is_ready: bool
    latency_ms: float
    error: str | None = None


class Readiness(msgspec.Struct, frozen=True):
    """Ready when every engine is."""

    is_ready: bool
    engines: dict[str, EngineHealth]


@get("/healthz", summary="Alive", tags=["Operations"], sync_to_thread=False)
def healthz() -> dict[str, str]:
    """The process runs; says nothing about the engines."""
    return {"status": "alive"}


@get("/readyz", summary="Ready", tags=["Operations"])
async def readyz(rooms: House) -> Response[Readiness]:
    """Asks every engine, in parallel and with a deadline; 503 when one does not answer."""
    checks: dict[str, Callable[[], Awaitable[object]]] = {
        f"postgres {name}": partial(rooms.shards.ping, name) for name in rooms.shards.map.servers
    }
    checks["redis"] = rooms.redis.ping
    checks["nats"] = rooms.bus.flush
    found = await asyncio.gather(*(_check(ask) for ask in checks.values()))
    engines = dict(zip(checks, found, strict=True))
    is_ready = all(each.is_ready for each in found)
    return Response(Readiness(is_ready, engines), status_code=200 if is_ready else 503)


@get("/metrics", summary="Metrics", tags=["Operations"], sync_to_thread=False)
def metrics() -> Response[bytes]:
    """Prometheus text: all web and worker processes of this machine together, where they share a folder."""
    registry = DEFAULT_REGISTRY
    if shared_folder():
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)
    text = generate_latest(registry) + generate_latest(OF_THIS_PROCESS)
    return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST})


async def _check(ask: Callable[[], Awaitable[object]]) -> EngineHealth:
    started = time.perf_counter()
    try:
        async with asyncio.timeout(PATIENCE_S):
            await ask()
    except Exception as error:  # noqa: BLE001 - whatever goes wrong is the answer to the question asked
        return EngineHealth(is_ready=False, latency_ms=_since(started), error=type(error).__name__)
    return EngineHealth(is_ready=True, latency_ms=_since(started))


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 2)
