"""Runs the ASGI app under granian, with the number of processes that the settings say."""

import asyncio
import sys

from granian.constants import Interfaces, Loops
from granian.log import LogLevels
from granian.server import Server

from tintype.api import RequestLog, create_app
from tintype.base.ids import AccountId
from tintype.base.log import set_up_log
from tintype.base.metrics import OF_THIS_PROCESS
from tintype.base.settings import Settings
from tintype.cli.running_stack import running_settings
from tintype.wiring import open_rooms

GRACE_S = 5


def serve(settings: Settings, *, host: str, port: int) -> None:
    """Serve until stopped; requests in progress get a few seconds to finish."""
    set_up_log(settings, process="web")
    server = Server(
        "tintype.cli.http_server:load_app",
        factory=True,
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        loop=Loops.uvloop,
        workers=settings.web_workers,
        respawn_failed_workers=True,
        workers_kill_timeout=GRACE_S,
        log_access=False,
        log_level=LogLevels.warning,
        backlog=1024,
    )
    server.serve()


def load_app() -> object:
    """Create the ASGI app; called in each worker process."""
    settings = running_settings()
    set_up_log(settings, process="web")
    app = create_app(
        settings,
        open_with=lambda: open_rooms(settings, process="web", registry=OF_THIS_PROCESS),
        start_demo=start_demo,
    )
    return RequestLog(app)


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
