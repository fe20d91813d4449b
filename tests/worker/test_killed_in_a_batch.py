"""A worker is killed while it handles a batch: the guilty event is found, and the others are handled."""

import asyncio
import pickle
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest

from tests.support import eventually
from tintype.base.nats import NatsNames
from tintype.wiring import Rooms
from tintype.worker import DeadLetters

Publish = Callable[..., Awaitable[None]]
ATTEMPTS = 2
CHECKOUT = Path(__file__).resolve().parents[2]
KILLER = """
import asyncio, os, pickle, signal, sys
from tests.worker.conftest import NumberNoted
from tintype.base.jobs import on
from tintype.wiring import open_rooms
from tintype.worker import Worker, consumer

consumer.ACK_WAIT_S = 1

async def handle(events):
    if any(event.number == 13 for event in events):
        os.kill(os.getpid(), signal.SIGKILL)
    with open(sys.argv[1], "a") as done:
        done.write("".join(f"{event.number}\\n" for event in events))

async def main():
    settings = pickle.load(sys.stdin.buffer)
    async with open_rooms(settings, process="worker") as rooms:
        handlers = [on(NumberNoted, handle, name="tests-killer", many=True)]
        await Worker(settings, rooms.shards, rooms.nats, handlers=handlers, schedules=[]).run()

asyncio.run(main())
"""


@pytest.mark.slow
async def test_an_event_that_kills_its_worker_takes_no_other_to_the_dead_letters(
    publish: Publish, rooms: Rooms, clean_streams: None, tmp_path: Path
) -> None:
    dead = DeadLetters(rooms.nats.jetstream(), NatsNames(rooms.settings.namespace))
    done = tmp_path / "done"
    done.touch()
    rest = {number for number in range(40) if number != 13}
    await publish(*range(40))

    async def is_over() -> bool:
        return set(map(int, done.read_text().split())) == rest and len(await dead.list()) == 1

    deaths = 0
    while not await is_over():
        worker = await asyncio.to_thread(_start_killer, rooms, done)
        try:
            await eventually(_either(is_over, worker), what="it died or was done")
        finally:
            if worker.poll() is None:
                worker.kill()
            else:
                assert worker.returncode == -signal.SIGKILL
                deaths += 1
            worker.wait()

    assert deaths == ATTEMPTS
    letter = (await dead.list())[0]
    assert (letter.payload, letter.attempts) == ('{"number":13}', ATTEMPTS)
    assert "died" in letter.error


def _start_killer(rooms: Rooms, done: Path) -> subprocess.Popen[bytes]:
    worker = subprocess.Popen([sys.executable, "-c", KILLER, str(done)], stdin=subprocess.PIPE, cwd=CHECKOUT)
    assert worker.stdin is not None
    pickle.dump(msgspec.structs.replace(rooms.settings, job_attempts=ATTEMPTS), worker.stdin)
    worker.stdin.close()
    return worker


def _either(
    is_over: Callable[[], Awaitable[bool]], worker: subprocess.Popen[bytes]
) -> Callable[[], Awaitable[bool]]:
    async def check() -> bool:
        return worker.poll() is not None or await is_over()

    return check
