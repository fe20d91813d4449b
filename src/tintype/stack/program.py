"""What the supervisor needs to know about a program: how to start it, when it is ready, how to stop it."""

import enum
import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from shardwright.local import Account

Check = Callable[[], Awaitable[None]]
"""Raises as long as the program is not ready."""


class Stage(enum.IntEnum):
    """Later stages start later and stop earlier."""

    POSTGRES = 1
    REDIS = 2
    NATS = 3
    SETUP = 4
    WORKER = 5
    WEB = 6


@dataclass(frozen=True)
class Program:
    """One program of the stack. Secrets go into `env` or into private files, never into `command`."""

    name: str
    command: tuple[str, ...]
    stage: Stage
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    cwd: Path | None = None
    account: Account | None = None
    """Whom it runs as when we are root; `None`: like us."""
    ready: Check | None = None
    """`None`: it is ready when it has stayed up for a moment."""
    before: Check | None = None
    """Clears what a crash left behind; called before every start."""
    stop_signal: signal.Signals = signal.SIGTERM
    grace_s: float = 10.0
    start_timeout_s: float = 60.0
    port: int | None = None
    tidy: Callable[[str], str] = str
    """Drops from a line what the supervisor adds anyway, such as the time; an empty line is not kept."""


def describe_exit(code: int) -> str:
    """Say how a process ended, for people: `killed by SIGKILL`, `exit code 3`."""
    if code >= 0:
        return f"exit code {code}"
    known = {each.value: each.name for each in signal.Signals}
    return f"killed by {known.get(-code, f'signal {-code}')}"
