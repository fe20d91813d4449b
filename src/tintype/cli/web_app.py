"""The ASGI app of a web process, with its rooms, metrics and limits of connections."""

import asyncio
import contextlib
import gc
import sys
from collections.abc import AsyncGenerator

from tintype.api import ConnectionGuard, MetricsListener, RequestLog, connection_limits, create_app
from tintype.base.ids import AccountId
from tintype.base.log import set_up_log
from tintype.base.metrics import OF_THIS_PROCESS
from tintype.cli.running_stack import running_settings
from tintype.media import log_missing_walls
from tintype.wiring import Rooms, open_rooms

GC_THRESHOLDS = (10_000, 20, 20)
"""Python's own default is a collection for every 700 new objects; a request makes some hundred, nearly all of which are
freed without a collection."""


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
