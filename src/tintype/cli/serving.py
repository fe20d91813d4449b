"""Runs the ASGI app under granian, with as many processes as the settings say."""

from granian.constants import Interfaces, Loops
from granian.log import LogLevels
from granian.server import Server

from tintype.api import RequestLog, create_app
from tintype.base.log import set_up_log
from tintype.base.metrics import OF_THIS_PROCESS
from tintype.base.settings import Settings
from tintype.cli.running import running_settings
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
    return RequestLog(
        create_app(settings, open_with=lambda: open_rooms(settings, process="web", registry=OF_THIS_PROCESS))
    )
