"""`tintype web` in a process of its own, on the engines of the tests: what only a real server can show."""

import os
import socket
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen

import httpx

from tintype.base.settings import Settings

PATIENCE_S = 60


@dataclass(frozen=True)
class WebProcess:
    """A running web process."""

    port: int
    metrics_port: int
    log: Path
    pid: int

    @property
    def address(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    def connect(self, source: str = "127.0.0.1", *, timeout_s: float = PATIENCE_S) -> socket.socket:
        """Open a connection, from an address of this machine's choice."""
        made = socket.socket()
        made.settimeout(timeout_s)
        made.bind((source, 0))
        made.connect(("127.0.0.1", self.port))
        return made


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def environment_of(settings: Settings, **chosen: object) -> dict[str, str]:
    """The environment of a process with these settings, and others as chosen."""
    ours: dict[str, object] = {
        "home": settings.home,
        "postgres": " ".join(settings.postgres),
        "redis": settings.redis,
        "nats": " ".join(settings.nats),
        "namespace": settings.namespace,
        "secret_key": settings.secret_key,
        "shard_count": settings.shard_count,
        "log_level": "error",
        "metrics_port": 0,
    }
    return os.environ | {f"TINTYPE_{name.upper()}": str(value) for name, value in (ours | chosen).items()}


@contextmanager
def open_web(settings: Settings, **chosen: object) -> Generator[WebProcess]:
    """A web process with these settings, and others as chosen, until the end of the block."""
    port, metrics_port = free_port(), free_port()
    log = Path(settings.home, f"web-{time.monotonic_ns()}.log")
    environment = environment_of(settings, **({"metrics_port": metrics_port} | chosen))
    with log.open("w") as output:
        command = [sys.executable, "-m", "tintype", "web", "--port", str(port)]
        process = Popen(command, env=environment, stdout=output, stderr=output)
    web = WebProcess(port, metrics_port, log, process.pid)
    try:
        deadline = time.monotonic() + PATIENCE_S
        while not _answers(web.address):
            assert process.poll() is None, web.log.read_text()[-3000:]
            assert time.monotonic() < deadline, web.log.read_text()[-3000:]
            time.sleep(0.1)
        yield web
    finally:
        process.terminate()
        process.wait(20)


def _answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/healthz", timeout=1).is_success
    except httpx.HTTPError:
        return False
