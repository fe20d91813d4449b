"""Running a stack in the foreground: until Ctrl-C, `tintype down`, or the terminal closing."""

import asyncio
import signal
from collections.abc import Callable

from tintype.stack.connections import Connections
from tintype.stack.supervisor import Stack

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


async def run_until_asked(stack: Stack, on_ready: Callable[[Connections], None]) -> None:
    """Start the stack, keep it until a signal asks to stop, and stop it; a second signal hurries."""
    asked = asyncio.Event()
    hurried: set[asyncio.Task[None]] = set()

    def ask() -> None:
        if asked.is_set():
            hurried.add(asyncio.create_task(stack.stop(at_once=True)))
        asked.set()

    loop = asyncio.get_running_loop()
    for number in _STOP_SIGNALS:
        loop.add_signal_handler(number, ask)
    connections = await _start_unless(asked, stack)
    if connections is not None:
        on_ready(connections)
        await asked.wait()
        await stack.stop()
    await asyncio.gather(*hurried)


async def _start_unless(asked: asyncio.Event, stack: Stack) -> Connections | None:
    """Start, or give up starting as soon as somebody asks to stop."""
    starting = asyncio.create_task(stack.start())
    asking = asyncio.create_task(asked.wait())
    await asyncio.wait({starting, asking}, return_when=asyncio.FIRST_COMPLETED)
    asking.cancel()
    if not starting.done():
        starting.cancel()
        await asyncio.wait([starting])
        return None
    return starting.result()
