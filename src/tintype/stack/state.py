"""The supervisor's notebook, run/state.json: what `status`, `down` and the next `up` read. No secrets."""

import enum
import signal

import msgspec

from tintype.stack.home import Home, write_private
from tintype.stack.processes import Identity, is_alive


class Phase(enum.StrEnum):
    """Where a program, or the whole stack, stands."""

    STARTING = "starting"
    READY = "ready"
    WAITING = "waiting"
    """Died; the next start waits for its turn."""
    DONE = "done"
    """Was to run once, and has."""
    STOPPING = "stopping"
    STOPPED = "stopped"


class ProcessState(msgspec.Struct, frozen=True, kw_only=True):
    """One program as last seen by the supervisor."""

    name: str
    phase: Phase
    identity: Identity | None = None
    stop_signal: int = signal.SIGTERM
    restarts: int = 0
    port: int | None = None
    last_exit: str = ""


class State(msgspec.Struct, frozen=True, kw_only=True):
    """The whole stack as last seen by the supervisor."""

    phase: Phase
    supervisor: Identity
    address: str = ""
    mqtt_port: int = 0
    mqtt_ws_port: int = 0
    external: tuple[str, ...] = ()
    """Engines that are existing servers, not started here."""
    processes: tuple[ProcessState, ...] = ()
    notes: tuple[str, ...] = ()
    """What a person should know about this start."""


def write_state(home: Home, state: State) -> None:
    """Have the notebook say this, whole."""
    write_private(home.state, msgspec.json.format(msgspec.json.encode(state)).decode() + "\n")


def read_state(home: Home) -> State | None:
    """Return what the last supervisor wrote, whether or not it still lives."""
    try:
        return msgspec.json.decode(home.state.read_bytes(), type=State)
    except (FileNotFoundError, msgspec.DecodeError):
        return None  # never started, or written by another release


def read_running(home: Home) -> State | None:
    """Return the state of the stack that runs in this home now."""
    state = read_state(home)
    return state if state is not None and is_alive(state.supervisor) else None
