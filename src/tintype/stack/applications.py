"""Tintype's own programs: the migration that runs first, then the workers and the web server."""

import asyncio
import os
import sys
from collections.abc import Callable, Sequence

from tintype.base.metrics import VARIABLE as METRICS_FOLDER
from tintype.base.metrics import make_shared_folder
from tintype.stack.connections import Connections
from tintype.stack.program import Program, Stage

_HEALTH_TIMEOUT_S = 3
_OK = b" 200 "
_MORE_RIGHTS = frozenset(
    {"TINTYPE_POSTGRES_MIGRATOR", "TINTYPE_POSTGRES_ADMIN", "TINTYPE_DIRECTORY_MIGRATOR"}
)

Applications = Callable[[Connections], Sequence[Program]]
"""Returns Tintype's own programs to run, once the servers' addresses are known."""


def tintype_programs(
    *, web_count: int = 1, worker_count: int = 1, finish_moves: bool = False
) -> Applications:
    """Migrate, then run the workers and the web server with its processes, which share one port.

    Embedded replicas enter the shard map when they are ready.
    """

    def programs(connections: Connections) -> list[Program]:
        host, port = connections.http_host, connections.http_port
        workers = [
            Program(
                name="worker" if worker_count == 1 else f"worker-{number}",
                command=_command("worker"),
                stage=Stage.WORKER,
                grace_s=15.0,
            )
            for number in range(1, worker_count + 1)
        ]
        web = Program(
            name="web",
            command=_command("web"),
            stage=Stage.WEB,
            env={"TINTYPE_WEB_WORKERS": str(web_count)},
            ready=lambda: check_http(host, port, "/healthz"),
            port=port,
        )
        rights = {**_given_rights(), **connections.migration_environment()}
        options = ["--finish-moves"] if finish_moves else []
        if connections.has_embedded_replicas:
            # A new replica is a copy of its server, which takes its time: nothing waits for it.
            options.append("--replica-wait=0")
        migrate = Program("migrate", _command("migrate", *options), Stage.SETUP, env=rights)
        if not connections.has_embedded_replicas:
            return [migrate, *workers, web]
        enter = Program(
            "enter-replicas",
            _command("migrate", "--replicas"),
            Stage.REPLICA_SETUP,
            env=rights,
            is_optional=True,
        )
        return [migrate, *workers, web, enter]

    return programs


def no_programs(_: Connections) -> list[Program]:
    """Run no programs of our own: servers only."""
    return []


async def check_http(host: str, port: int, path: str) -> None:
    """Raise unless a GET of the path answers with status 200."""
    async with asyncio.timeout(_HEALTH_TIMEOUT_S):
        reader, writer = await asyncio.open_connection(reachable(host), port)
        try:
            writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            answer = await reader.readline()
        finally:
            writer.close()
    if _OK not in answer:
        raise ConnectionError(f"{path} answers {answer.decode(errors='replace').strip() or 'nothing'}")


def reachable(host: str) -> str:
    """Return the loopback address for a server that listens on all interfaces."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not listened on


def application_environment(connections: Connections) -> dict[str, str]:
    """Environment of Tintype's own processes: ours, plus the servers' addresses and the shared metrics folder.

    Without addresses of roles that may change tables: a program that needs them gets them itself.
    """
    shared = {"PYTHONUNBUFFERED": "1", METRICS_FOLDER: make_shared_folder(connections.home)}
    ours = {name: value for name, value in os.environ.items() if name not in _MORE_RIGHTS}
    return {**ours, **shared, **connections.environment()}


def _given_rights() -> dict[str, str]:
    """Addresses with more rights that the operator gave in the environment."""
    return {name: os.environ[name] for name in _MORE_RIGHTS if name in os.environ}


def _command(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "tintype", *words)
