"""The supervisor: starts the servers, then Tintype's processes, restarts what dies, and stops everything in order."""

import asyncio
import os
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self, cast

from tintype.stack.addresses import save_addresses
from tintype.stack.applications import Applications, application_environment, no_programs, tintype_programs
from tintype.stack.assembly import assemble, wait_for_existing_servers
from tintype.stack.connections import Connections
from tintype.stack.data_directory import DataDirectory
from tintype.stack.errors import StartFailed
from tintype.stack.kept_moves import MoveUpkeep
from tintype.stack.logs import Echo, LogFiles
from tintype.stack.plan import StackPlan
from tintype.stack.ports import Ports
from tintype.stack.processes import MARK, Identity, identify
from tintype.stack.program import Program, Stage
from tintype.stack.program_runner import ProgramRunner
from tintype.stack.recovery import recover
from tintype.stack.replica import drop_unused_slots
from tintype.stack.state import Phase, ProcessState, State, write_state

_WAIT_FOR_REPLICAS_S = 60.0
_REPEAT_S = 30.0


class Stack:
    """All servers and processes of one data directory.

        async with Stack(home, postgres_servers=2, engines_only=True, durable=False) as stack:
            ...  # stack.connections.postgres, .redis, .nats

    Start it from the main thread: the kernel signals the children when the thread that started them exits.
    """

    def __init__(
        self,
        home: Path,
        *,
        postgres_servers: int = 1,
        replicas: int = 0,
        engines_only: bool = False,
        durable: bool = True,
        applications: Applications | None = None,
        echo: Echo | None = None,
    ) -> None:
        plan = StackPlan(
            home=home.absolute(), postgres_servers=postgres_servers, replica_count=replicas, durable=durable
        )
        self._plan = replace(plan, http_port=0) if engines_only else plan
        self._applications = applications or (no_programs if engines_only else tintype_programs())
        self._home = DataDirectory(self._plan.home)
        self._logs = LogFiles(self._home.logs, echo)
        self._lock = ExitStack()
        self._is_locked = False
        self._runners: list[ProgramRunner] = []
        self._replica_starts: list[asyncio.Task[None]] = []
        self._entering: list[asyncio.Task[None]] = []
        """Make replicas known that were not ready in time."""
        self._upkeep: list[asyncio.Task[None]] = []
        self._ports: Ports | None = None
        self._connections: Connections | None = None
        self._phase = Phase.STOPPED

    @classmethod
    def from_plan(
        cls, plan: StackPlan, *, applications: Applications | None = None, echo: Echo | None = None
    ) -> Self:
        """Return a stack that runs what the operator's plan says."""
        chosen = applications or tintype_programs(
            web_count=plan.web_count, worker_count=plan.worker_count, finish_moves=plan.finish_moves
        )
        stack = cls(plan.home, applications=chosen, echo=echo)
        stack._plan = plan
        return stack

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def connections(self) -> Connections:
        """Addresses of the servers."""
        if self._connections is None:
            raise StartFailed("The stack has not been started.")
        return self._connections

    @property
    def notes(self) -> list[str]:
        """Messages for the operator about this start, such as ports that were taken."""
        return self._ports.notes if self._ports is not None else []

    @property
    def processes(self) -> list[ProcessState]:
        """State of every program."""
        return [runner.state for runner in self._runners]

    async def start(self) -> Connections:
        """Return once everything is ready; when anything fails to start, everything is stopped again."""
        self._home.create()
        self._lock.enter_context(self._home.locked())
        self._is_locked = True
        try:
            return await self._start()
        except BaseException:
            await self.stop()
            raise

    async def stop(self, *, at_once: bool = False) -> None:
        """Stop everything: the web server first, PostgreSQL last. Safe to call again, also while it is stopping."""
        if not self._is_locked:
            return
        self._set(Phase.STOPPING)
        ending = [*self._entering, *self._upkeep]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        for stage in sorted(Stage, reverse=True):
            programs = [runner for runner in self._runners if runner.program.stage is stage]
            await asyncio.gather(*(runner.stop(at_once=at_once) for runner in programs))
        self._release()

    def _release(self) -> None:
        """Release the data directory; a concurrent call with `at_once` may already have done so."""
        if self._is_locked:
            self._is_locked = False
            self._runners.clear()
            if self._ports is not None:
                self._ports.release()
            self._phase = Phase.STOPPED
            self._home.state.unlink(missing_ok=True)
            self._logs.write("stopped")
            self._logs.close()
            self._lock.close()

    async def _start(self) -> Connections:
        await recover(self._home, self._logs.write)
        self._set(Phase.STARTING)
        self._ports = Ports(self._home.ports)
        engines, self._connections = await assemble(self._plan, self._home, self._ports)
        save_addresses(self._home, self._connections)
        for note in self._ports.notes:
            self._logs.write(note)
        await wait_for_existing_servers(self._plan)
        path = {"PATH": os.environ.get("PATH", os.defpath)}
        await self._start_all((each for each in engines if each.stage is not Stage.REPLICA), path)
        for dsn in self._connections.postgres_admin:
            await drop_unused_slots(dsn, self._plan.replica_count)
        self._replica_starts = [
            asyncio.create_task(self._add_runner(each, path).start())
            for each in engines
            if each.stage is Stage.REPLICA
        ]
        ours, environment = self._applications(self._connections), application_environment(self._connections)
        for program in ours:
            if program.stage is Stage.SETUP:
                await self._add_runner(program, environment).run_once()
        served = (each for each in ours if each.stage not in {Stage.SETUP, Stage.REPLICA_SETUP})
        await self._start_all(served, environment)
        for program in ours:
            if program.stage is Stage.REPLICA_SETUP and self._replica_starts:
                runner = self._add_runner(program, environment)
                self._entering.append(asyncio.create_task(self._enter_replicas(runner)))
        if self._replica_starts:
            # Without them everything works as well, and a large database takes its time to be copied.
            await asyncio.wait([*self._replica_starts, *self._entering], timeout=_WAIT_FOR_REPLICAS_S)
        upkeep = MoveUpkeep.of(self._plan, self._connections, self._logs.write)
        if upkeep is not None and any(each.stage is Stage.SETUP for each in ours):
            self._upkeep.append(asyncio.create_task(upkeep.run()))
        self._set(Phase.READY)
        self._logs.write("everything is ready")
        return self._connections

    async def _enter_replicas(self, runner: ProgramRunner) -> None:
        """Run the program that makes replicas known whenever one is ready, until it has made all of them known."""
        pending: set[asyncio.Task[None]] = set(self._replica_starts)
        while True:
            if pending:
                _, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            try:
                await runner.run_once()
            except StartFailed as error:
                self._logs.write(f"not all replicas are in use yet: {error}")
                if not pending:
                    await asyncio.sleep(_REPEAT_S)
            else:
                return

    async def _start_all(self, programs: Iterable[Program], environment: Mapping[str, str]) -> None:
        """Start them in parallel: within a stage no program depends on another."""
        await asyncio.gather(*(self._add_runner(program, environment).start() for program in programs))

    def _add_runner(self, program: Program, environment: Mapping[str, str]) -> ProgramRunner:
        runner = ProgramRunner(
            program,
            environment={**environment, **program.env, MARK: self._home.mark},
            mark=self._home.mark,
            logs=self._logs,
            on_change=self._save_state,
        )
        self._runners.append(runner)
        return runner

    def _set(self, phase: Phase) -> None:
        self._phase = phase
        self._save_state()

    def _save_state(self) -> None:
        """Write the state file."""
        known = self._connections
        write_state(
            self._home,
            State(
                phase=self._phase,
                supervisor=cast("Identity", identify(os.getpid())),
                address=known.address if known is not None and self._applications is not no_programs else "",
                realtime=self._plan.realtime,
                mqtt_port=known.mqtt_port if known is not None else 0,
                mqtt_ws_port=known.mqtt_ws_port if known is not None else 0,
                metrics_port=known.metrics_port if known is not None else 0,
                external=self._plan.external,
                processes=tuple(self.processes),
                notes=tuple(self.notes),
            ),
        )
