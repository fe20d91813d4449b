"""Keeps one program running: starts it, waits until it is ready, starts it again when it dies."""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tintype.stack.errors import StartFailed
from tintype.stack.logs import Channel, LogBook
from tintype.stack.program import Program, describe_exit
from tintype.stack.spawning import Running, spawn
from tintype.stack.state import Phase, ProcessState

_FIRST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 30.0
_STEADY_AFTER_S = 10.0
_TRIES_BEFORE_GIVING_UP = 3
_LOOP_AFTER = 4
_POLL_S = 0.05
_STAY_UP_S = 0.5
_SHOWN_LINES = 12


class _Life(NamedTuple):
    """One run of the program, from start to death."""

    ready_s: float
    complaint: str
    is_hopeless: bool = False
    """Hung rather than died: trying again would only take as long again."""


class Keeper:
    """One program of the stack and its fortunes."""

    def __init__(
        self,
        program: Program,
        *,
        environment: Mapping[str, str],
        mark: str,
        book: LogBook,
        changed: Callable[[], None],
    ) -> None:
        self.program = program
        self._environment = environment
        self._mark = mark
        self._book = book
        self._channel: Channel = book.channel(program.name)
        self._changed = changed
        self._process: Running | None = None
        self._task: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[None] | None = None
        self._phase = Phase.STOPPED
        self._is_stopping = False
        self._restarts = 0
        self._last_exit = ""

    @property
    def state(self) -> ProcessState:
        """How it stands, for the notebook."""
        process = self._process
        return ProcessState(
            name=self.program.name,
            phase=self._phase,
            identity=process.identity if process is not None else None,
            stop_signal=self.program.stop_signal,
            restarts=self._restarts,
            port=self.program.port,
            last_exit=self._last_exit,
        )

    async def start(self) -> None:
        """Return once the program is ready; it is kept running from then on."""
        self._ready = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._keep(self._ready), name=f"keep {self.program.name}")
        await self._ready

    async def run_once(self) -> None:
        """Run the program to its end; raises unless it succeeds."""
        self._process = await self._spawn()
        self._set(Phase.STARTING)
        code = await self._wait_end()
        if code != 0 and not self._is_stopping:
            raise StartFailed(self._explain(f"{self.program.name} failed: {describe_exit(code)}"))
        self._set(Phase.DONE)

    async def stop(self, *, at_once: bool = False) -> None:
        """Have the program not run, and not be started again."""
        self._is_stopping = True
        process = self._process
        if process is not None and not process.has_ended:
            self._set(Phase.STOPPING)
            left_by_itself = await process.stop(
                self.program.stop_signal, 0.5 if at_once else self.program.grace_s
            )
            if not left_by_itself:
                self._book.say(
                    f"{self.program.name} did not stop in {self.program.grace_s:g} s and was killed"
                )
        await self._settle()
        self._set(Phase.STOPPED)

    async def _settle(self) -> None:
        """Wait for the keeping task to notice, or end its pause."""
        task, self._task = self._task, None
        if task is None:
            return
        if self._process is None:
            task.cancel()
        await asyncio.wait([task])
        if self._ready is not None and not self._ready.cancel() and not self._ready.cancelled():
            self._ready.exception()  # whoever waited for it has left: nobody is to be told any more

    async def _keep(self, ready: "asyncio.Future[None]") -> None:
        failures = 0
        while not self._is_stopping:
            life = await self._live(ready)
            if self._is_stopping:
                return
            failures = 1 if life.ready_s > _STEADY_AFTER_S else failures + 1
            if not ready.done() and (life.is_hopeless or failures >= _TRIES_BEFORE_GIVING_UP):
                ready.set_exception(StartFailed(self._explain(life.complaint)))
                return
            await self._pause(failures, life.complaint)

    async def _live(self, ready: "asyncio.Future[None]") -> _Life:
        """Start the program and stay with it until it ends."""
        self._channel.forget()
        try:
            self._process = await self._spawn()
        except Exception as error:  # noqa: BLE001 - whatever kept it from starting is told and tried again
            return _Life(0.0, f"{self.program.name} could not be started: {error}")
        self._set(Phase.STARTING)
        hang = await self._wait_ready(self._process)
        since = time.monotonic()
        was_ready = hang is None and not self._process.has_ended
        if was_ready:
            self._set(Phase.READY)
            if not ready.done():
                ready.set_result(None)
        self._last_exit = describe_exit(await self._wait_end())
        if hang is not None:
            return _Life(0.0, f"{self.program.name} {hang}", is_hopeless=True)
        ready_s = time.monotonic() - since if was_ready else 0.0
        return _Life(ready_s, f"{self.program.name} died ({self._last_exit})")

    async def _spawn(self) -> Running:
        if self.program.before is not None:
            await self.program.before()
        return await spawn(self.program, self._environment, self._mark, self._hear)

    def _hear(self, line: str) -> None:
        said = self.program.tidy(line)
        if said.strip():
            self._channel.say(said)

    async def _wait_ready(self, process: Running) -> str | None:
        """Return `None` once it is ready or dead; one that hangs is ended, and what it lacked is returned."""
        deadline = time.monotonic() + self.program.start_timeout_s
        earliest = time.monotonic() + (_STAY_UP_S if self.program.ready is None else 0)
        complaint = "it did not say why"
        while not process.has_ended:
            try:
                if self.program.ready is not None:
                    await self.program.ready()
                if time.monotonic() >= earliest and not process.has_ended:
                    return None
            except Exception as error:  # noqa: BLE001 - any failure means: not ready yet
                complaint = f"{type(error).__name__}: {error}"
            if time.monotonic() > deadline and not self._is_stopping:
                await process.stop(self.program.stop_signal, 3.0)
                return f"was not ready after {self.program.start_timeout_s:g} s ({complaint})"
            await asyncio.sleep(_POLL_S)
        return None

    async def _wait_end(self) -> int:
        process = self._process
        if process is None:
            return 0
        code = await process.wait()
        self._process = None
        return code

    async def _pause(self, failures: int, complaint: str) -> None:
        pause_s = min(_FIRST_PAUSE_S * 2 ** (failures - 1), _LONGEST_PAUSE_S)
        if failures == _LOOP_AFTER:
            complaint = self._explain(f"{complaint}; it keeps dying")
        self._restarts += 1
        self._set(Phase.WAITING)
        self._book.say(f"{complaint}; starting it again in {pause_s:g} s")
        await asyncio.sleep(pause_s)

    def _explain(self, complaint: str) -> str:
        said = self._channel.recent()[-_SHOWN_LINES:]
        return (
            "\n".join([f"{complaint}. Its last words:", *(f"  {line}" for line in said)])
            if said
            else complaint
        )

    def _set(self, phase: Phase) -> None:
        self._phase = phase
        self._changed()
