"""Runs the ASGI app under granian, with the number of processes that the settings say.

The parent process only watches the others. With one of them it loads nothing of the app, which saves 55 MB; with more
it loads the app before it forks them, so that they share what stays unchanged.
"""

import gc
import importlib
import resource
import socket

from granian.constants import HTTPModes, Interfaces, Loops
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server import Server

from tintype.base.log import get_log, set_up_log
from tintype.base.settings import Settings

log = get_log("http")
APP_MODULE = "tintype.cli.web_app"
GRACE_S = 5
BACKLOG = 4_096
MAX_HEAD_BYTES = 64 * 1024
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
    if settings.web_workers > 1:
        share_app()
    server = Server(
        f"{APP_MODULE}:load_app",
        factory=True,
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        loop=Loops.uvloop,
        # One request at a time on a connection, so that limits of connections are limits of requests.
        http=HTTPModes.http1,
        websockets=settings.has_realtime,
        http1_settings=HTTP1Settings(
            header_read_timeout=settings.http_idle_s * 1_000, max_buffer_size=MAX_HEAD_BYTES
        ),
        workers=max(1, settings.web_workers),
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


def share_app() -> None:
    """Load the app in the parent, and keep the garbage collector from writing into what the processes share."""
    importlib.import_module(APP_MODULE)
    gc.collect()
    gc.freeze()


def warn_of_taken_metrics_port(settings: Settings) -> None:
    """Say who has the port of the metrics; `tintype up` chooses another one, a web process of its own waits for it."""
    host, port = settings.metrics_host, settings.metrics_port
    if not port or _is_free(host, port):
        return
    from tintype.stack import find_obstacle  # noqa: PLC0415 - 13 MB that the parent otherwise has no use for

    log.warning(
        "metrics.unreachable",
        port=port,
        reason=find_obstacle(host, port),
        hint="Set metrics_port to a free port, or to 0 for none.",
    )


def _is_free(host: str, port: int) -> bool:
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        socket.create_server(address, family=family).close()
    except OSError:
        return False
    return True


def raise_file_limit(connections: int) -> None:
    """Allow as many open files as the connections need, as far as the system lets us."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections * 2 + OWN_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
