"""The protocol between a process that starts a job, the fork server, and the process of the job.

A request goes to the fork server as one packet, with one end of a socket pair as a file descriptor, and the fork server
passes both on to a process that waits for a job. On that pair come back first the job's `Reply`, written by its own
process and therefore not trusted, then the fork server's `ExitReport`: of fixed size, so that nothing the job writes
can be mistaken for it.
"""

import enum
import socket
import struct
from pathlib import Path
from typing import Literal

import msgspec

from tintype.media.sandbox.registry import JobLimits
from tintype.media.sandbox.walls import RequiredWalls

MAX_REQUEST_BYTES = 64 * 1024
MAX_REPLY_BYTES = 96 * 1024  # fits into the socket's buffer, so that writing never blocks
MAX_DESCRIPTORS = 2
_EXIT_REPORT = struct.Struct("<4sii?dQ")
_MARK = b"END\n"


class ExitCode(enum.IntEnum):
    """How a job's process ends by itself, and what the fork server finds afterwards."""

    DONE = 0
    """There is a result, and its files can be taken."""
    FAILED = 1
    NO_RESULT = 3
    """The reply is a refusal: no file is taken."""
    WALL_MISSING = 70
    """The process was not isolated as the settings demand, and has taken no job."""
    OUTPUT_REFUSED = 71
    """The job left something else than plain files."""
    OUTPUT_LOST = 72
    """What the job made could not be moved to its caller: a fault of ours."""


class SandboxOptions(msgspec.Struct, frozen=True):
    """What an operator chooses about the sandbox; a fork server keeps those it was started with."""

    folder: Path | None = None
    """Where jobs have their folders: best the file system of their sources and outputs. None: the temporary folder."""
    helpers: int = 1
    """How many processes wait for a job, isolated and with the libraries loaded."""
    required_walls: RequiredWalls = "essential"


class ForkServerArguments(msgspec.Struct, frozen=True):
    """The command line of a fork server."""

    control: int
    folder: str | None
    helpers: int
    required_walls: RequiredWalls
    modules: list[str]
    """What to load, for jobs to find."""


class JobRequest(msgspec.Struct, frozen=True):
    """One job to run."""

    name: str
    target: str
    arguments: msgspec.Raw
    timeout_s: float
    limits: JobLimits
    at_once: int
    source: str | None
    """The file that the job may read, as `registry.SOURCE`."""

    outs: dict[str, str]
    """Which folder of the caller receives what the job wrote into one of its own, if it succeeds."""


class JobReply(msgspec.Struct, frozen=True):
    """What a job's process sends: its result, the refusal it raised, or that it failed."""

    kind: Literal["result", "refused", "no_memory", "no_space", "broken"]
    result: msgspec.Raw = msgspec.Raw(b"\xc0")
    code: str = ""
    detail: str = ""
    facts: dict[str, str | int | float] = msgspec.field(default_factory=dict[str, str | int | float])


class ExitReport(msgspec.Struct, frozen=True):
    """How a job's process ended, as the fork server saw it."""

    exit_code: int
    signal: int
    is_timed_out: bool
    cpu_s: float
    peak_bytes: int

    def pack(self) -> bytes:
        """The last bytes on a job's socket."""
        return _EXIT_REPORT.pack(
            _MARK, self.exit_code, self.signal, self.is_timed_out, self.cpu_s, self.peak_bytes
        )


def split_exit_report(received: bytes) -> tuple[bytes, ExitReport] | None:
    """The job's reply and how it ended; None when the fork server itself is gone."""
    if len(received) < _EXIT_REPORT.size:
        return None
    mark, *fields = _EXIT_REPORT.unpack(received[-_EXIT_REPORT.size :])
    return (received[: -_EXIT_REPORT.size], ExitReport(*fields)) if mark == _MARK else None


def receive_packet(control: socket.socket) -> tuple[bytes, list[int]]:
    """One packet and the descriptors that came with it: a job's socket, and its progress file if it has one."""
    packet, descriptors, _, _ = socket.recv_fds(control, MAX_REQUEST_BYTES, MAX_DESCRIPTORS)
    return packet, descriptors
