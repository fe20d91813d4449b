"""Child processes that cannot leak: own session, own account, marked in their environment, signalled when we die."""

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
_MAX_LINE_BYTES = 65_536
_DRAIN_S = 0.2


class _OutputProtocol(asyncio.SubprocessProtocol):
    """Splits a process's output into lines and records its exit.

    `asyncio`'s own `Process.wait` waits for the pipe too, which a stray grandchild can hold open forever.
    """

    def __init__(self, on_line: Callable[[str], None]) -> None:
        self._write_line = on_line
        self._partial = b""
        self.exited = asyncio.Event()
        self.closed = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        del fd  # both streams share one pipe
        *lines, self._partial = (self._partial + data).split(b"\n")
        if len(self._partial) > _MAX_LINE_BYTES:
            lines, self._partial = [*lines, self._partial], b""
        for line in lines:
            self._write_line(line.decode(errors="replace").rstrip("\r"))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        del fd, exc
        if self._partial:
            self._write_line(self._partial.decode(errors="replace"))
            self._partial = b""
        self.closed.set()

    def process_exited(self) -> None:
        self.exited.set()


class ChildProcess:
    """A child process, from its start until its whole process group is gone."""

    def __init__(self, transport: asyncio.SubprocessTransport, output: _OutputProtocol, mark: str) -> None:
        self._transport = transport
        self._output = output
        self._mark = mark
        self.pid = transport.get_pid()
        self.identity = identify(self.pid)

    @property
    def has_exited(self) -> bool:
        """Whether the process has exited."""
        return self._output.exited.is_set()

    async def wait(self) -> int:
        """Wait until its whole process group is gone; returns the exit code, negative for a signal."""
        await self._output.exited.wait()
        code = cast("int", self._transport.get_returncode())
        await end(self._stragglers(), (signal.SIGKILL, 2.0))
        try:
            async with asyncio.timeout(_DRAIN_S):
                await self._output.closed.wait()
        except TimeoutError:
            pass  # an unrelated process holds the pipe open; no process of ours can write to it any more
        self._transport.close()
        return code

    async def stop(self, number: signal.Signals, grace_s: float) -> bool:
        """Send the stop signal, and SIGKILL when it does not exit in time; returns whether it exited by itself."""
        self._send(number)
        try:
            async with asyncio.timeout(grace_s):
                await self._output.exited.wait()
        except TimeoutError:
            if (
                number is signal.SIGINT
            ):  # PostgreSQL: immediate shutdown without a checkpoint, rather than SIGKILL
                return await self.stop(signal.SIGQUIT, min(grace_s, 3.0))
            self._send(signal.SIGKILL)
            await self._output.exited.wait()
            return False
        return True

    def _send(self, number: signal.Signals) -> None:
        if not self.has_exited:
            self._transport.send_signal(number)

    def _stragglers(self) -> list[Identity]:
        return [each for each in find_marked(self._mark) if in_group(each, self.pid)]


async def spawn(
    program: Program, environment: Mapping[str, str], mark: str, on_line: Callable[[str], None]
) -> ChildProcess:
    """Start the program; every line of its output is passed to `on_line`."""
    loop = asyncio.get_running_loop()
    transport, output = await loop.subprocess_exec(
        lambda: _OutputProtocol(on_line),
        *_launcher(program),
        *program.command,
        env=dict(environment),
        cwd=program.cwd,
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,  # Ctrl-C goes to the supervisor, which stops the programs in order
    )
    return ChildProcess(transport, output, mark)


def _launcher(program: Program) -> list[str]:
    # PDEATHSIG follows the thread that forked, not the process: only the main thread lives as long as we do.
    is_main = threading.current_thread() is threading.main_thread()
    owner = f"{program.account.uid}:{program.account.gid}" if program.account else "-"
    signal_number = str(int(program.stop_signal)) if is_main else "0"
    return [sys.executable, "-I", "-S", str(_LAUNCHER), str(os.getpid()), signal_number, owner]
