"""Runs the ASGI app under granian, with the number of processes that the settings say."""

import asyncio
import contextlib
import gc
import resource
import sys
from collections.abc import AsyncGenerator

from granian.constants import HTTPModes, Interfaces, Loops
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server import Server

from tintype.api import ConnectionGuard, MetricsListener, RequestLog, connection_limits, create_app
from tintype.base.ids import AccountId
from tintype.base.log import get_log, set_up_log
from tintype.base.metrics import OF_THIS_PROCESS
from tintype.base.settings import Settings
from tintype.cli.running_stack import running_settings
from tintype.media import log_missing_walls
from tintype.stack import find_obstacle
from tintype.wiring import Rooms, open_rooms

log = get_log("http")
GRACE_S = 5
BACKLOG = 4_096
MAX_HEAD_BYTES = 64 * 1024
GC_THRESHOLDS = (10_000, 20, 20)
"""Python's own default is a collection for every 700 new objects; a request makes some hundred, nearly all of which are
freed without a collection."""
OWN_FILES = 512
"""Open files beside those of clients: engines, logs, uploads."""
LOG_CONFIGURATION = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"tintype": {"class": "tintype.base.log.LibraryLogHandler"}},
    "loggers": {"_granian": {"handlers": ["tintype"], "propagate": False}},
}
"""The server's own messages pass our log, which takes secrets and control characters out of them."""


def serve(settings: Settings, *, host: str, port: int) -> None:
    """Serve until stopped; requests in progress get a few seconds to finish."""
    set_up_log(settings, process="web")
    raise_file_limit(settings.connections)
    warn_of_taken_metrics_port(settings)
    server = Server(
        "tintype.cli.http_server:load_app",
        factory=True,
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        loop=Loops.uvloop,
        # One request at a time on a connection, so that limits of connections are limits of requests.
        http=HTTPModes.http1,
        websockets=False,
        http1_settings=HTTP1Settings(
            header_read_timeout=settings.http_idle_s * 1_000, max_buffer_size=MAX_HEAD_BYTES
        ),
        workers=settings.web_workers,
        respawn_failed_workers=True,
        workers_kill_timeout=GRACE_S,
        log_access=False,
        log_level=LogLevels.warning,
        log_dictconfig=LOG_CONFIGURATION,
        backlog=BACKLOG,
        # The guard makes room before this is reached; from here on new connections wait in the backlog.
        backpressure=settings.connections * 2,
    )
    server.serve()


def warn_of_taken_metrics_port(settings: Settings) -> None:
    """Say who has the port of the metrics; `tintype up` chooses another one, a web process of its own waits for it."""
    obstacle = find_obstacle(settings.metrics_host, settings.metrics_port) if settings.metrics_port else None
    if obstacle is not None:
        log.warning(
            "metrics.unreachable",
            port=settings.metrics_port,
            reason=obstacle,
            hint="Set metrics_port to a free port, or to 0 for none.",
        )


def load_app() -> object:
    """Create the ASGI app; called in each worker process."""
    settings = running_settings()
    set_up_log(settings, process="web")
    guard = ConnectionGuard(connection_limits(settings))

    @contextlib.asynccontextmanager
    async def open_all() -> AsyncGenerator[Rooms]:
        metrics = MetricsListener(settings.metrics_host, settings.metrics_port)
        async with (
            open_rooms(settings, process="web", registry=OF_THIS_PROCESS) as rooms,
            guard.running(),
            metrics.running(),
            log_missing_walls(),
        ):
            collect_garbage_less_often()
            yield rooms

    app = create_app(settings, open_with=open_all, start_demo=start_demo)
    return RequestLog(app, settings, guard)


def collect_garbage_less_often() -> None:
    """Leave what was made at the start out of garbage collections, and run them less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


def raise_file_limit(connections: int) -> None:
    """Allow as many open files as the connections need, as far as the system lets us."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections * 2 + OWN_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


async def start_demo(newcomer: AccountId) -> None:
    """Start `tintype demo` in a separate process: generating photos would block this one."""
    await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tintype",
        "demo",
        f"--newcomer={newcomer}",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
