"""Runs a stack in the foreground until Ctrl-C, `tintype down`, or the terminal is closed."""

import asyncio
import signal
from collections.abc import Callable

from tintype.stack.connections import Connections
from tintype.stack.supervisor import Stack

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


async def run_until_stopped(stack: Stack, on_ready: Callable[[Connections], None]) -> None:
    """Start the stack, run it until a stop signal arrives, and stop it; a second signal shortens the grace periods."""
    stop_requested = asyncio.Event()
    immediate_stops: set[asyncio.Task[None]] = set()

    def request_stop() -> None:
        if stop_requested.is_set():
            immediate_stops.add(asyncio.create_task(stack.stop(at_once=True)))
        stop_requested.set()

    loop = asyncio.get_running_loop()
    for number in _STOP_SIGNALS:
        loop.add_signal_handler(number, request_stop)
    connections = await _start_unless(stop_requested, stack)
    if connections is not None:
        on_ready(connections)
        await stop_requested.wait()
        await stack.stop()
    await asyncio.gather(*immediate_stops)


async def _start_unless(stop_requested: asyncio.Event, stack: Stack) -> Connections | None:
    """Start the stack, or cancel the start as soon as a stop is requested."""
    starting = asyncio.create_task(stack.start())
    stopping = asyncio.create_task(stop_requested.wait())
    await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not starting.done():
        starting.cancel()
        await asyncio.wait([starting])
        return None
    return starting.result()
