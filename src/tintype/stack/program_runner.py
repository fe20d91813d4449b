"""Keeps one program running: starts it, waits until it is ready, restarts it with backoff when it dies."""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tintype.stack.child_process import ChildProcess, spawn
from tintype.stack.errors import StartFailed
from tintype.stack.logs import LogFile, LogFiles
from tintype.stack.program import Program, RestartNeeded, describe_exit
from tintype.stack.state import Phase, ProcessState

_FIRST_PAUSE_S = 0.25
_MAX_PAUSE_S = 30.0
_STABLE_AFTER_S = 10.0
_MAX_START_ATTEMPTS = 3
_CRASH_LOOP_AFTER = 4
_POLL_S = 0.05
_STAY_UP_S = 0.5
_SHOWN_LINES = 12


class _Run(NamedTuple):
    """One run of the program, from start to exit."""

    ready_s: float
    problem: str
    has_hung: bool = False
    """Never became ready, rather than died: another attempt would only take as long again."""


class ProgramRunner:
    """Runs one program of the stack and records its state."""

    def __init__(
        self,
        program: Program,
        *,
        environment: Mapping[str, str],
        mark: str,
        logs: LogFiles,
        on_change: Callable[[], None],
    ) -> None:
        self.program = program
        self._environment = environment
        self._mark = mark
        self._logs = logs
        self._log: LogFile = logs.log_file(program.name)
        self._on_change = on_change
        self._process: ChildProcess | None = None
        self._task: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[None] | None = None
        self._phase = Phase.STOPPED
        self._is_stopping = False
        self._restarts = 0
        self._last_exit = ""
        self._watch_problem = ""

    @property
    def state(self) -> ProcessState:
        """Current state, as written to the state file."""
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
        """Return once the program is ready; from then on it is restarted whenever it dies."""
        self._ready = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run_forever(self._ready), name=f"run {self.program.name}")
        await self._ready

    async def run_once(self) -> None:
        """Run the program until it exits; raises unless it exits with 0."""
        self._process = await self._spawn()
        self._set(Phase.STARTING)
        code = await self._wait_exit()
        if code != 0 and not self._is_stopping:
            self._set(Phase.WAITING)
            raise StartFailed(self._explain(f"{self.program.name} failed: {describe_exit(code)}"))
        self._set(Phase.DONE)

    async def stop(self, *, at_once: bool = False) -> None:
        """Stop the program and do not restart it."""
        self._is_stopping = True
        process = self._process
        if process is not None and not process.has_exited:
            self._set(Phase.STOPPING)
            exited_by_itself = await process.stop(
                self.program.stop_signal, 0.5 if at_once else self.program.grace_s
            )
            if not exited_by_itself:
                self._logs.write(
                    f"{self.program.name} did not stop in {self.program.grace_s:g} s and was killed"
                )
        await self._end_task()
        self._set(Phase.STOPPED)

    async def _end_task(self) -> None:
        """Wait for the restart loop to notice the exit, or cancel its backoff pause."""
        task, self._task = self._task, None
        if task is None:
            return
        if self._process is None:
            task.cancel()
        await asyncio.wait([task])
        if self._ready is not None and not self._ready.cancel() and not self._ready.cancelled():
            self._ready.exception()  # retrieved, so that asyncio does not log it as never retrieved

    async def _run_forever(self, ready: "asyncio.Future[None]") -> None:
        failures = 0
        while not self._is_stopping:
            run = await self._run_until_exit(ready)
            if self._is_stopping:
                return
            failures = 1 if run.ready_s > _STABLE_AFTER_S else failures + 1
            is_last = run.has_hung or failures >= _MAX_START_ATTEMPTS
            if not ready.done() and is_last and not self.program.is_optional:
                ready.set_exception(StartFailed(self._explain(run.problem)))
                return
            await self._pause(failures, run.problem)

    async def _run_until_exit(self, ready: "asyncio.Future[None]") -> _Run:
        """Start the program, report it as ready, and wait until it exits."""
        self._log.clear_recent()
        try:
            self._process = await self._spawn()
        except Exception as error:  # noqa: BLE001 - whatever prevented the start is reported and retried
            return _Run(0.0, f"{self.program.name} could not be started: {error}")
        self._set(Phase.STARTING)
        hang = await self._wait_ready(self._process)
        since = time.monotonic()
        was_ready = hang is None and not self._process.has_exited
        if was_ready:
            self._set(Phase.READY)
            if not ready.done():
                ready.set_result(None)
        self._last_exit = describe_exit(await self._watch_until_exit(self._process))
        if hang is not None:
            return _Run(0.0, f"{self.program.name} {hang}", has_hung=True)
        ready_s = time.monotonic() - since if was_ready else 0.0
        return _Run(ready_s, f"{self.program.name} died ({self._last_exit})")

    async def _spawn(self) -> ChildProcess:
        if self.program.before_start is not None:
            await self.program.before_start()
        return await spawn(self.program, self._environment, self._mark, self._write_line)

    def _write_line(self, line: str) -> None:
        text = self.program.clean_line(line)
        if text.strip():
            self._log.write(text)

    async def _wait_ready(self, process: ChildProcess) -> str | None:
        """Return None once it is ready or has exited; one that hangs is stopped, and the reason is returned."""
        deadline = time.monotonic() + self.program.start_timeout_s
        earliest = time.monotonic() + (_STAY_UP_S if self.program.ready is None else 0)
        problem = "no error reported"
        while not process.has_exited:
            try:
                if self.program.ready is not None:
                    await self.program.ready()
                if time.monotonic() >= earliest and not process.has_exited:
                    return None
            except Exception as error:  # noqa: BLE001 - any failure means: not ready yet
                problem = f"{type(error).__name__}: {error}"
            if time.monotonic() > deadline and not self._is_stopping:
                await process.stop(self.program.stop_signal, 3.0)
                return f"was not ready after {self.program.start_timeout_s:g} s ({problem})"
            await asyncio.sleep(_POLL_S)
        return None

    async def _watch_until_exit(self, process: ChildProcess) -> int:
        """Wait until it exits; stop it when its watch finds that only a restart helps."""
        watching = asyncio.create_task(self._watch(process)) if self.program.watch is not None else None
        try:
            return await self._wait_exit()
        finally:
            if watching is not None:
                watching.cancel()
                await asyncio.wait([watching])

    async def _watch(self, process: ChildProcess) -> None:
        while self.program.watch is not None and not process.has_exited:
            await asyncio.sleep(self.program.watch_every_s)
            try:
                await self.program.watch()
            except RestartNeeded as reason:
                self._logs.write(f"{self.program.name} is restarted: {reason}")
                await process.stop(self.program.stop_signal, self.program.grace_s)
            except Exception as error:  # noqa: BLE001 - what cannot be asked now is asked next time
                self._note_watch_problem(f"{type(error).__name__}: {error}")
            else:
                self._watch_problem = ""

    def _note_watch_problem(self, problem: str) -> None:
        """Log why the program could not be watched, once as long as it stays the same."""
        if problem != self._watch_problem:
            self._watch_problem = problem
            self._logs.write(f"{self.program.name} cannot be watched: {problem}")

    async def _wait_exit(self) -> int:
        process = self._process
        if process is None:
            return 0
        code = await process.wait()
        self._process = None
        return code

    async def _pause(self, failures: int, problem: str) -> None:
        pause_s = min(_FIRST_PAUSE_S * 2 ** (failures - 1), _MAX_PAUSE_S)
        if failures == _CRASH_LOOP_AFTER:
            problem = self._explain(f"{problem}; it keeps crashing")
        self._restarts += 1
        self._set(Phase.WAITING)
        self._logs.write(f"{problem}; restarting it in {pause_s:g} s")
        await asyncio.sleep(pause_s)

    def _explain(self, problem: str) -> str:
        lines = self._log.recent()[-_SHOWN_LINES:]
        return (
            "\n".join([f"{problem}. Its last output:", *(f"  {line}" for line in lines)])
            if lines
            else problem
        )

    def _set(self, phase: Phase) -> None:
        self._phase = phase
        self._on_change()
