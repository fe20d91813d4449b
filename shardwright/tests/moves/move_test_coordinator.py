"""Coordinators in processes of their own, which stop or die at a chosen point of a move.

Run as a program, this forks one coordinator for every line that it reads: importing the library takes longer than most
of them live. `Coordinators` starts that program and speaks with it.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import wraps
from typing import Any

import asyncpg

from shardwright.errors import ShardwrightError
from shardwright.moves import Move, MoveOptions, Mover
from shardwright.topology import Directory


@dataclass(frozen=True)
class Errand:
    """What a coordinator does, and where it stops on the way."""

    directory: str
    verb: str
    shards: tuple[int, ...] = ()
    target: str = ""
    dsns: Mapping[str, str] = field(default_factory=dict[str, str])
    addresses: Mapping[str, str] = field(default_factory=dict[str, str])
    step: str = ""
    phase: str = "begin"
    statement: int = 0
    """The point is before this statement of the step, from one on, instead of at a phase of it."""
    is_killed: bool = True
    """It dies there; otherwise it stops until it is told to go on."""
    drain_timeout_s: float = 10.0


@dataclass(frozen=True)
class Outcome:
    """How a coordinator ended."""

    exit_code: int
    error: str = ""
    is_expected: bool = True
    """Whether it failed with an error of the library, which says what to do."""

    @property
    def is_killed(self) -> bool:
        return self.exit_code == -signal.SIGKILL


Strike = Callable[[str, str], Awaitable[None]]
"""What happens while a coordinator has stopped; called with the source and the target of its move."""


class Coordinators:
    """Starts coordinators, one at a time."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None

    async def close(self) -> None:
        """End the program that forks them."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            await self._process.wait()

    async def run(self, errand: Errand, strike: Strike | None = None) -> Outcome:
        """Run a coordinator to its end; where it stops, `strike` is called with its source and target."""
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, __file__, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
            )
        await self._send(asdict(errand))
        failure: dict[str, Any] = {}
        while True:
            try:
                message = await asyncio.wait_for(self._receive(), 120)
            except TimeoutError:  # the next test gets a program of its own
                self._process.kill()
                await self._process.wait()
                self._process = None
                raise
            if "exit_code" in message:
                return Outcome(message["exit_code"], **failure)
            if "error" in message:
                failure = message
            else:
                assert strike is not None
                await strike(message["source"], message["target"])
                await self._send({})

    async def _send(self, message: object) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        await self._process.stdin.drain()

    async def _receive(self) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        assert line, "the coordinators' program has ended"
        return json.loads(line)


def main() -> None:
    """Fork a coordinator for every line."""
    while line := _read_line():
        child = os.fork()
        if child == 0:
            os._exit(_work(Errand(**json.loads(line))))
        _, status = os.waitpid(child, 0)
        _write({"exit_code": os.waitstatus_to_exitcode(status)})


def _work(errand: Errand) -> int:
    try:
        asyncio.run(_carry_out(errand))
    except BaseException as error:  # noqa: BLE001 - whatever it is, the test is told
        notes = "; ".join(getattr(error, "__notes__", []))
        _write(
            {
                "error": f"{type(error).__name__}: {error} {notes}",
                "is_expected": isinstance(error, ShardwrightError),
            }
        )
        return 1
    return 0


async def _carry_out(errand: Errand) -> None:
    directory = await Directory.open(errand.directory, dsns=errand.dsns)
    options = MoveOptions(poll_s=0.05, busy_timeout_s=30.0, drain_timeout_s=errand.drain_timeout_s)
    trap = _Trap(errand)
    mover = Mover(directory, addresses=errand.addresses, options=options, on_step=trap.on_step)
    if errand.verb == "start":
        await mover.start(errand.shards, errand.target)
    else:
        (move,) = await mover.moves()
        await getattr(mover, errand.verb)(move.id)


class _Trap:
    """Kills or stops this process at the errand's point, once."""

    def __init__(self, errand: Errand) -> None:
        self._errand = errand
        self._move: Move | None = None
        """While the errand's step is carried out."""
        self._statements = 0
        self._is_sprung = False
        if errand.statement:
            for name in ("execute", "fetch", "fetchval"):
                setattr(asyncpg.Connection, name, self._counting(getattr(asyncpg.Connection, name)))

    def on_step(self, move: Move, phase: str) -> None:
        is_here = move.step == self._errand.step
        if is_here and phase == self._errand.phase and not self._errand.statement:
            self._spring(move)
        self._move = move if is_here and phase == "begin" else None
        self._statements = 0

    def _spring(self, move: Move) -> None:
        if self._is_sprung:
            return
        self._is_sprung = True
        if self._errand.is_killed:
            os.kill(os.getpid(), signal.SIGKILL)
        _write({"source": move.source, "target": move.target})
        _read_line()

    def _counting(self, send: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        @wraps(send)
        async def counted(*args: Any, **kwargs: Any) -> Any:
            if self._move is not None:
                self._statements += 1
                if self._statements == self._errand.statement:
                    self._spring(self._move)
            return await send(*args, **kwargs)

        return counted


def _read_line() -> bytes:
    """A line of standard input, and nothing beyond: parent and child share it."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            return b""
        line += byte
    return line


def _write(message: object) -> None:
    os.write(1, json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    main()
