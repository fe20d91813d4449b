"""`tintype worker`: runs the outbox relay, event handlers and scheduled jobs."""

import asyncio
import signal

import uvloop

from tintype.base.log import set_up_log
from tintype.base.settings import Settings
from tintype.cli.running_stack import running_settings
from tintype.media import log_missing_walls
from tintype.wiring import open_rooms
from tintype.worker import Worker


def worker() -> None:
    """Relay outbox events, run event handlers and scheduled jobs. `tintype up` starts this; run as many as you like."""
    settings = running_settings()
    set_up_log(settings, process="worker")
    uvloop.run(run_worker(settings))  # the event loop of the web process


async def run_worker(settings: Settings) -> None:
    """Run until SIGTERM or SIGINT, then finish the jobs in progress."""
    async with open_rooms(settings, process="worker") as rooms, log_missing_walls():
        work = Worker(
            settings,
            rooms.shards,
            rooms.nats,
            handlers=rooms.handlers(),
            schedules=rooms.schedules(),
            services=rooms.services(),
        )
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, work.stop)
        await work.run()
