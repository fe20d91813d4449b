"""The supervisor's state file, run/state.json: read by `status`, `down` and the next `up`. Contains no secrets."""

import enum
import signal

import msgspec

from tintype.stack.data_directory import DataDirectory, write_private
from tintype.stack.processes import Identity, is_alive


class Phase(enum.StrEnum):
    """Phase of a program, or of the whole stack."""

    STARTING = "starting"
    READY = "ready"
    WAITING = "waiting"
    """Died; waiting for the restart backoff."""
    DONE = "done"
    """Ran once and succeeded."""
    STOPPING = "stopping"
    STOPPED = "stopped"


class ProcessState(msgspec.Struct, frozen=True, kw_only=True):
    """One program as last recorded by the supervisor."""

    name: str
    phase: Phase
    identity: Identity | None = None
    stop_signal: int = signal.SIGTERM
    restarts: int = 0
    port: int | None = None
    last_exit: str = ""


class State(msgspec.Struct, frozen=True, kw_only=True):
    """The whole stack as last recorded by the supervisor."""

    phase: Phase
    supervisor: Identity
    address: str = ""
    realtime: bool = False
    """Whether devices may hold live connections."""
    mqtt_port: int = 0
    mqtt_ws_port: int = 0
    metrics_port: int = 0
    external: tuple[str, ...] = ()
    """Names of existing servers, which are not started here."""
    processes: tuple[ProcessState, ...] = ()
    notes: tuple[str, ...] = ()
    """Messages for the operator about this start."""


def write_state(home: DataDirectory, state: State) -> None:
    """Replace the state file."""
    write_private(home.state, msgspec.json.format(msgspec.json.encode(state)).decode() + "\n")


def read_state(home: DataDirectory) -> State | None:
    """Return the last supervisor's state, whether or not it is still running; None when there is none."""
    try:
        return msgspec.json.decode(home.state.read_bytes(), type=State)
    except (FileNotFoundError, msgspec.DecodeError):
        return None  # never started, or written by another release


def read_running(home: DataDirectory) -> State | None:
    """Return the state of the stack that is running in this data directory; None when none is."""
    state = read_state(home)
    return state if state is not None and is_alive(state.supervisor) else None
