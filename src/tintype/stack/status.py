"""Status of the stack in a data directory: the supervisor's state file, checked against the running processes."""

from collections.abc import Mapping

import msgspec

from tintype.stack.data_directory import DataDirectory
from tintype.stack.move_status import MoveStatus
from tintype.stack.process_memory import MemoryUse, memory_of, sum_of, trees
from tintype.stack.processes import is_alive, uptime_s
from tintype.stack.replica_status import ReplicaStatus
from tintype.stack.state import Phase, ProcessState, State, read_running


class ProcessStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Status of one program, as `tintype status` shows it."""

    name: str
    phase: Phase
    pid: int | None
    port: int | None
    uptime_s: float | None
    memory_bytes: int | None
    """Of the process and its descendants (PostgreSQL's backends, web processes): private pages, and their share of
    common ones.
    """
    process_count: int
    """The process and its descendants; zero while it does not run."""
    restarts: int
    last_exit: str


class StackStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Status of the whole stack, as `tintype status` shows it."""

    running: bool
    phase: Phase
    home: str
    address: str = ""
    supervisor_pid: int | None = None
    memory_bytes: int | None = None
    """Of everything together, the supervisor included; existing servers are not."""
    existing_servers: tuple[str, ...] = ()
    realtime: bool | None = None
    """Whether devices may hold live connections."""
    mqtt_port: int | None = None
    mqtt_ws_port: int | None = None
    metrics_port: int | None = None
    processes: tuple[ProcessStatus, ...] = ()
    replicas: tuple[ReplicaStatus, ...] = ()
    moves: tuple[MoveStatus, ...] = ()
    """Moves of shards that have not ended: old copies that are kept, and until when."""
    notes: tuple[str, ...] = ()

    @property
    def is_ready(self) -> bool:
        """Whether every program that should be running is ready."""
        return self.phase is Phase.READY and all(
            each.phase in (Phase.READY, Phase.DONE) for each in self.processes
        )


def read_status(home: DataDirectory) -> StackStatus:
    """Return the status of the stack in this data directory."""
    state = read_running(home)
    if state is None:
        return StackStatus(running=False, phase=Phase.STOPPED, home=str(home.root))
    return _stack_status(home, state)


def _stack_status(home: DataDirectory, state: State) -> StackStatus:
    used = _memory_by_pid(state)
    supervisor = memory_of(state.supervisor.pid) or MemoryUse()
    return StackStatus(
        running=True,
        phase=state.phase,
        home=str(home.root),
        address=state.address,
        supervisor_pid=state.supervisor.pid,
        existing_servers=state.external,
        realtime=state.realtime,
        mqtt_port=state.mqtt_port,
        mqtt_ws_port=state.mqtt_ws_port,
        metrics_port=state.metrics_port,
        memory_bytes=sum(each.proportional_bytes for each in (supervisor, *used.values())),
        processes=tuple(_process_status(each, used) for each in state.processes),
        notes=state.notes,
    )


def _memory_by_pid(state: State) -> dict[int, MemoryUse]:
    """Memory of every program with its descendants, by the program's pid."""
    running = [each.identity.pid for each in state.processes if each.identity and is_alive(each.identity)]
    return {pid: sum_of(members) for pid, members in trees(running).items()}


def _process_status(process: ProcessState, used: Mapping[int, MemoryUse]) -> ProcessStatus:
    identity = process.identity if process.identity and is_alive(process.identity) else None
    has_died = (
        identity is None and process.phase is Phase.READY
    )  # the supervisor has not recorded the exit yet
    memory = used.get(identity.pid) if identity else None
    return ProcessStatus(
        name=process.name,
        phase=Phase.WAITING if has_died else process.phase,
        pid=identity.pid if identity else None,
        port=process.port,
        uptime_s=round(uptime_s(identity), 1) if identity else None,
        memory_bytes=memory.proportional_bytes if memory else None,
        process_count=memory.processes if memory else 0,
        restarts=process.restarts,
        last_exit=process.last_exit,
    )
