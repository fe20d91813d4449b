"""Description of a program for the supervisor: how to start it, when it is ready, how to stop it."""

import enum
import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from shardwright.local import SystemAccount

Check = Callable[[], Awaitable[None]]
"""Raises while the program is not ready."""


class RestartNeeded(Exception):
    """The program runs, but must be started again to be of use; the text says why."""


class Stage(enum.IntEnum):
    """Start order; stopping goes in reverse."""

    POSTGRES = 1
    REPLICA = 2
    REDIS = 3
    NATS = 4
    SETUP = 5
    WORKER = 6
    WEB = 7
    REPLICA_SETUP = 8
    """Runs once when replicas are ready, however late that is."""


@dataclass(frozen=True)
class Program:
    """One program of the stack. Secrets go into `env` or into private files, never into `command`."""

    name: str
    command: tuple[str, ...]
    stage: Stage
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    cwd: Path | None = None
    account: SystemAccount | None = None
    """The account it runs as when we are root; None: the same as ours."""
    ready: Check | None = None
    """None: it counts as ready once it has stayed up for a moment."""
    before_start: Check | None = None
    """Cleans up after a crash; called before every start."""
    watch: Check | None = None
    """Called every now and then while the program is ready; raises `RestartNeeded` when only a restart helps."""
    watch_every_s: float = 10.0
    is_optional: bool = False
    """Whether the others run without it: a start that fails is repeated until it succeeds."""
    stop_signal: signal.Signals = signal.SIGTERM
    grace_s: float = 10.0
    start_timeout_s: float = 180.0
    """Long enough for an overloaded machine: one that has died is noticed at once."""
    port: int | None = None
    clean_line: Callable[[str], str] = str
    """Removes from a log line what the supervisor adds anyway, such as the time; an empty line is dropped."""


def describe_exit(code: int) -> str:
    """Describe how a process exited: `killed by SIGKILL`, `exit code 3`."""
    if code >= 0:
        return f"exit code {code}"
    known = {each.value: each.name for each in signal.Signals}
    return f"killed by {known.get(-code, f'signal {-code}')}"
