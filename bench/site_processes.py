"""Servers and processes of a bench's contenders: started for the length of a block, with their CPU time by name."""

import asyncio
import os
import socket
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from subprocess import Popen
from typing import Any

import psutil

from tintype.base.log import set_up_log
from tintype.base.settings import Settings
from tintype.stack import Connections, Stack, StackPlan, no_programs

Parts = dict[str, list[psutil.Process]]
"""Processes by the name under which their cost is reported; the children of each count with it."""
NO_REFUSALS = "all=1000000000/60"
"""A few accounts send all requests of a bench. Limits are counted as ever, and never reached."""
CHECKOUT = Path(__file__).resolve().parent.parent
ENGINES = ("postgres", "valkey", "nats")
START_S = 180
STOP_S = 20


@asynccontextmanager
async def engines(
    servers: int = 1, *, realtime: bool = False, secret_key: str = ""
) -> AsyncGenerator[tuple[Connections, Parts]]:
    """Start PostgreSQL, Valkey and NATS for the length of the block; yields their addresses and processes by name.

    With `realtime`, NATS listens for MQTT and asks an auth callout that knows the secret key.
    """
    with tempfile.TemporaryDirectory(prefix="tintype-bench-") as folder:
        Path(folder).chmod(0o711)  # noqa: ASYNC240 - one call; the servers' account must traverse it
        before = {each.pid for each in psutil.Process().children(recursive=True)}
        plan = StackPlan(
            home=Path(folder) / "home",
            postgres_servers=servers,
            durable=False,
            http_port=0,
            realtime=realtime,
            secret_key=secret_key,
        )
        async with Stack.from_plan(plan, applications=no_programs) as stack:
            made = [each for each in psutil.Process().children(recursive=True) if each.pid not in before]
            tops = [each for each in made if each.ppid() not in {one.pid for one in made}]
            parts = {name: [each for each in tops if name in each.name()] for name in ENGINES}
            yield stack.connections, parts


def cpu_s(*processes: psutil.Process) -> float:
    """CPU time of these processes and their children, including children that have exited."""
    total = 0.0
    for each in (one for top in processes for one in (top, *top.children(recursive=True))):
        try:
            times = each.cpu_times()
        except psutil.NoSuchProcess:
            continue  # it exited since it was listed
        total += times.user + times.system + times.children_user + times.children_system
    return total


@contextmanager
def started(arguments: list[str], environment: dict[str, str]) -> Generator[psutil.Process]:
    """Run a Python process for the length of a block."""
    process = Popen([sys.executable, *arguments], env=environment, cwd=CHECKOUT)
    try:
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(STOP_S)


def settings_for(found: Connections, **choices: Any) -> Settings:
    """Settings of an installation on these servers; this process logs errors only."""
    given: dict[str, Any] = {"postgres": found.postgres, "log_level": "error", "secret_key": "of a bench"}
    settings = Settings(home=found.home, redis=found.redis, nats=found.nats, **(given | choices))
    set_up_log(settings, process="bench")
    return settings


def environment_of(settings: Settings) -> dict[str, str]:
    """Environment that makes a Tintype process use these settings."""
    chosen = {
        "HOME": str(settings.home),
        "POSTGRES": " ".join(settings.postgres),
        "REDIS": settings.redis,
        "NATS": " ".join(settings.nats),
        "NAMESPACE": settings.namespace,
        "SHARD_COUNT": str(settings.shard_count),
        "SECRET_KEY": settings.secret_key,
        "LOG_LEVEL": "error",
        "RATE_LIMITS": NO_REFUSALS,
        "METRICS_PORT": "0",
        "REALTIME": str(settings.realtime).lower(),
        "NATS_SYSTEM": settings.nats_system,
        "MQTT_UPSTREAM": settings.mqtt_upstream,
    }
    return os.environ | {f"TINTYPE_{name}": value for name, value in chosen.items()}


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def wait_for(port: int, within_s: float = START_S) -> None:
    """Wait until a server listens on this port."""
    deadline = time.monotonic() + within_s
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return
