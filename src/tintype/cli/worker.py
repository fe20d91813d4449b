"""`tintype worker`: the process that does what must follow."""

import asyncio
import signal

from tintype.base.log import set_up_log
from tintype.base.settings import Settings
from tintype.cli.running import running_settings
from tintype.wiring import open_rooms
from tintype.worker import Worker


def worker() -> None:
    """Relay events, run handlers and scheduled work. `tintype up` starts this for you; start as many as you like."""
    settings = running_settings()
    set_up_log(settings, process="worker")
    asyncio.run(run_worker(settings))


async def run_worker(settings: Settings) -> None:
    """Work until SIGTERM or SIGINT, then finish the jobs under way."""
    async with open_rooms(settings, process="worker") as rooms:
        work = Worker(
            settings, rooms.shards, rooms.bus, handlers=rooms.handlers(), schedules=rooms.schedules()
        )
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, work.stop)
        await work.run()
