"""Runs the ASGI app under granian, with as many processes as the settings say."""

import asyncio
import sys

from granian.constants import Interfaces, Loops
from granian.log import LogLevels
from granian.server import Server

from tintype.api import DemoStarter, RequestLog, create_app
from tintype.base.ids import AccountId
from tintype.base.log import set_up_log
from tintype.base.metrics import OF_THIS_PROCESS
from tintype.base.settings import Settings
from tintype.cli.running import running_settings
from tintype.demo import all_people
from tintype.wiring import open_rooms

GRACE_S = 5


def serve(settings: Settings, *, host: str, port: int) -> None:
    """Serve until told to stop; requests under way get a few seconds to finish."""
    set_up_log(settings, process="web")
    server = Server(
        "tintype.cli.serving:load_app",
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
    """Made anew in each worker process."""
    settings = running_settings()
    set_up_log(settings, process="web")
    app = create_app(
        settings,
        open_with=lambda: open_rooms(settings, process="web", registry=OF_THIS_PROCESS),
        demo=DemoStarter(frozenset(each.username for each in all_people()), start_demo),
    )
    return RequestLog(app)


async def start_demo(newcomer: AccountId) -> None:
    """Let the invented people move in, in a process of its own: making pictures would keep this one busy."""
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
