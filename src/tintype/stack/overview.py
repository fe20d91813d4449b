"""How a home stands just now, checked against the processes that really live."""

import msgspec

from tintype.stack.home import Home
from tintype.stack.processes import is_alive, memory_bytes, uptime_s
from tintype.stack.state import Phase, ProcessState, State, read_running


class ProcessView(msgspec.Struct, frozen=True, kw_only=True):
    """One program, for people and machines."""

    name: str
    phase: Phase
    pid: int | None
    port: int | None
    uptime_s: float | None
    memory_bytes: int | None
    restarts: int
    last_exit: str


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """The whole stack, for people and machines."""

    running: bool
    phase: Phase
    home: str
    address: str = ""
    supervisor_pid: int | None = None
    existing_servers: tuple[str, ...] = ()
    mqtt_port: int | None = None
    mqtt_ws_port: int | None = None
    processes: tuple[ProcessView, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_ready(self) -> bool:
        """Whether everything that should run does."""
        return self.phase is Phase.READY and all(
            each.phase in (Phase.READY, Phase.DONE) for each in self.processes
        )


def look(home: Home) -> Overview:
    """Return how the home stands."""
    state = read_running(home)
    if state is None:
        return Overview(running=False, phase=Phase.STOPPED, home=str(home.root))
    return _overview(home, state)


def _overview(home: Home, state: State) -> Overview:
    return Overview(
        running=True,
        phase=state.phase,
        home=str(home.root),
        address=state.address,
        supervisor_pid=state.supervisor.pid,
        existing_servers=state.external,
        mqtt_port=state.mqtt_port,
        mqtt_ws_port=state.mqtt_ws_port,
        processes=tuple(_view(each) for each in state.processes),
        notes=state.notes,
    )


def _view(process: ProcessState) -> ProcessView:
    identity = process.identity if process.identity and is_alive(process.identity) else None
    has_died = (
        identity is None and process.phase is Phase.READY
    )  # noticed here before the supervisor wrote it
    return ProcessView(
        name=process.name,
        phase=Phase.WAITING if has_died else process.phase,
        pid=identity.pid if identity else None,
        port=process.port,
        uptime_s=round(uptime_s(identity), 1) if identity else None,
        memory_bytes=memory_bytes(identity) if identity else None,
        restarts=process.restarts,
        last_exit=process.last_exit,
    )
