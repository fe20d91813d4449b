"""Starting a process so that it cannot be lost: own session, own account, marked, tied to our life."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

from tintype.stack.processes import Identity, end, find_marked, identify, in_group
from tintype.stack.program import Program

_LAUNCHER = Path(__file__).with_name("launch.py")
_LONGEST_LINE = 65_536
_LAST_WORDS_S = 0.2


class _Ear(asyncio.SubprocessProtocol):
    """Cuts what a process says into lines and notices its end.

    `asyncio`'s own `Process.wait` waits for the pipe too, which a stray grandchild can hold open for ever.
    """

    def __init__(self, hear: Callable[[str], None]) -> None:
        self._hear = hear
        self._rest = b""
        self.ended = asyncio.Event()
        self.silent = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        del fd  # both streams share one pipe
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _LONGEST_LINE:
            lines, self._rest = [*lines, self._rest], b""
        for line in lines:
            self._hear(line.decode(errors="replace").rstrip("\r"))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        del fd, exc
        if self._rest:
            self._hear(self._rest.decode(errors="replace"))
            self._rest = b""
        self.silent.set()

    def process_exited(self) -> None:
        self.ended.set()


class Running:
    """A process of ours, from its start to the end of its whole group."""

    def __init__(self, transport: asyncio.SubprocessTransport, ear: _Ear, mark: str) -> None:
        self._transport = transport
        self._ear = ear
        self._mark = mark
        self.pid = transport.get_pid()
        self.identity = identify(self.pid)

    @property
    def has_ended(self) -> bool:
        """Whether the process is gone."""
        return self._ear.ended.is_set()

    async def wait(self) -> int:
        """Wait until nothing of it is left; returns the exit code, negative for a signal."""
        await self._ear.ended.wait()
        code = cast("int", self._transport.get_returncode())
        await end(self._stragglers(), (signal.SIGKILL, 2.0))
        try:
            async with asyncio.timeout(_LAST_WORDS_S):
                await self._ear.silent.wait()
        except TimeoutError:
            pass  # something outside our reach holds the pipe; nothing of ours is left to say anything
        self._transport.close()
        return code

    async def stop(self, number: signal.Signals, grace_s: float) -> bool:
        """Ask it to stop, and kill it when it does not in time; returns whether it left by itself."""
        self._send(number)
        try:
            async with asyncio.timeout(grace_s):
                await self._ear.ended.wait()
        except TimeoutError:
            if number is signal.SIGINT:  # PostgreSQL: leave without a checkpoint, rather than be killed
                return await self.stop(signal.SIGQUIT, min(grace_s, 3.0))
            self._send(signal.SIGKILL)
            await self._ear.ended.wait()
            return False
        return True

    def _send(self, number: signal.Signals) -> None:
        if not self.has_ended:
            self._transport.send_signal(number)

    def _stragglers(self) -> list[Identity]:
        return [each for each in find_marked(self._mark) if in_group(each, self.pid)]


async def spawn(
    program: Program, environment: Mapping[str, str], mark: str, hear: Callable[[str], None]
) -> Running:
    """Start the program; every line it says is handed to `hear`."""
    loop = asyncio.get_running_loop()
    transport, ear = await loop.subprocess_exec(
        lambda: _Ear(hear),
        *_launcher(program),
        *program.command,
        env=dict(environment),
        cwd=program.cwd,
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,  # Ctrl-C is for the supervisor, which stops everybody in order
    )
    return Running(transport, ear, mark)


def _launcher(program: Program) -> list[str]:
    # The kernel watches the thread that forked, not the process: only the main thread lives as long as we do.
    is_main = threading.current_thread() is threading.main_thread()
    owner = f"{program.account.uid}:{program.account.gid}" if program.account else "-"
    signal_number = str(int(program.stop_signal)) if is_main else "0"
    return [sys.executable, "-I", "-S", str(_LAUNCHER), str(os.getpid()), signal_number, owner]
