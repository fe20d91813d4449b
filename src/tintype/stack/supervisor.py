"""The stack: starts the engines, then Tintype on top, keeps all of it running, and stops it in order."""

import asyncio
import os
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self, cast

from tintype.stack.addresses import keep_addresses
from tintype.stack.applications import Applications, application_environment, no_programs, tintype_programs
from tintype.stack.assembly import assemble, check_existing
from tintype.stack.connections import Connections
from tintype.stack.errors import StartFailed
from tintype.stack.home import Home
from tintype.stack.keeper import Keeper
from tintype.stack.logs import Echo, LogBook
from tintype.stack.plan import Plan
from tintype.stack.ports import Ports
from tintype.stack.processes import MARK, Identity, identify
from tintype.stack.program import Program, Stage
from tintype.stack.recovery import recover
from tintype.stack.state import Phase, ProcessState, State, write_state


class Stack:
    """All servers and processes of one home.

        async with Stack(home, postgres_servers=2, engines_only=True, durable=False) as stack:
            ...  # stack.connections.postgres, .redis, .nats

    Start it from the main thread: the kernel ends the children with the thread that started them.
    """

    def __init__(
        self,
        home: Path,
        *,
        postgres_servers: int = 1,
        engines_only: bool = False,
        durable: bool = True,
        applications: Applications | None = None,
        echo: Echo | None = None,
    ) -> None:
        plan = Plan(home=home.absolute(), postgres_servers=postgres_servers, durable=durable)
        self._plan = replace(plan, http_port=0, mqtt_port=0, mqtt_ws_port=0) if engines_only else plan
        self._applications = applications or (no_programs if engines_only else tintype_programs())
        self._home = Home(self._plan.home)
        self._book = LogBook(self._home.logs, echo)
        self._held = ExitStack()
        self._is_held = False
        self._keepers: list[Keeper] = []
        self._ports: Ports | None = None
        self._connections: Connections | None = None
        self._phase = Phase.STOPPED

    @classmethod
    def following(
        cls, plan: Plan, *, applications: Applications | None = None, echo: Echo | None = None
    ) -> Self:
        """Return the stack that an operator's plan asks for."""
        chosen = applications or tintype_programs(worker_count=plan.worker_count)
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
        """Where the servers are."""
        if self._connections is None:
            raise StartFailed("The stack has not been started.")
        return self._connections

    @property
    def notes(self) -> list[str]:
        """What a person should know about this start, such as ports that had to be avoided."""
        return self._ports.notes if self._ports is not None else []

    @property
    def processes(self) -> list[ProcessState]:
        """How every program stands."""
        return [keeper.state for keeper in self._keepers]

    async def start(self) -> Connections:
        """Return once everything is ready; if anything cannot be, nothing of it is left running."""
        self._home.create()
        self._held.enter_context(self._home.locked())
        self._is_held = True
        try:
            return await self._start()
        except BaseException:
            await self.stop()
            raise

    async def stop(self, *, at_once: bool = False) -> None:
        """Have nothing run: the web first, PostgreSQL last. Safe to call again, also while it works."""
        if not self._is_held:
            return
        self._set(Phase.STOPPING)
        for stage in sorted(Stage, reverse=True):
            leaving = [keeper for keeper in self._keepers if keeper.program.stage is stage]
            await asyncio.gather(*(keeper.stop(at_once=at_once) for keeper in leaving))
        self._let_go()

    def _let_go(self) -> None:
        """Leave the home to the next one; a hurried call, made during another, may have done so already."""
        if self._is_held:
            self._is_held = False
            self._keepers.clear()
            if self._ports is not None:
                self._ports.let_go()
            self._phase = Phase.STOPPED
            self._home.state.unlink(missing_ok=True)
            self._book.say("stopped")
            self._book.close()
            self._held.close()

    async def _start(self) -> Connections:
        await recover(self._home, self._book.say)
        self._set(Phase.STARTING)
        self._ports = Ports(self._home.ports)
        engines, self._connections = await assemble(self._plan, self._home, self._ports)
        keep_addresses(self._home, self._connections)
        for note in self._ports.notes:
            self._book.say(note)
        await check_existing(self._plan)
        await self._start_all(engines, {"PATH": os.environ.get("PATH", os.defpath)})
        ours, environment = self._applications(self._connections), application_environment(self._connections)
        for program in ours:
            if program.stage is Stage.SETUP:
                await self._keeper(program, environment).run_once()
        await self._start_all((each for each in ours if each.stage is not Stage.SETUP), environment)
        self._set(Phase.READY)
        self._book.say("everything is ready")
        return self._connections

    async def _start_all(self, programs: Iterable[Program], environment: Mapping[str, str]) -> None:
        """Start them side by side: within a group nobody needs another."""
        await asyncio.gather(*(self._keeper(program, environment).start() for program in programs))

    def _keeper(self, program: Program, environment: Mapping[str, str]) -> Keeper:
        keeper = Keeper(
            program,
            environment={**environment, **program.env, MARK: self._home.mark},
            mark=self._home.mark,
            book=self._book,
            changed=self._note,
        )
        self._keepers.append(keeper)
        return keeper

    def _set(self, phase: Phase) -> None:
        self._phase = phase
        self._note()

    def _note(self) -> None:
        """Have the notebook on disk say how things are."""
        known = self._connections
        write_state(
            self._home,
            State(
                phase=self._phase,
                supervisor=cast("Identity", identify(os.getpid())),
                address=known.address if known is not None and self._applications is not no_programs else "",
                mqtt_port=known.mqtt_port if known is not None else 0,
                mqtt_ws_port=known.mqtt_ws_port if known is not None else 0,
                external=self._plan.external,
                processes=tuple(self.processes),
                notes=tuple(self.notes),
            ),
        )
