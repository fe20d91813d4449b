"""The protocol between a process that starts a job, the fork server, and the process of the job.

A request goes to the fork server as one packet, with one end of a socket pair as a file descriptor. On that pair come
back first the job's `Reply`, written by its own process and therefore not trusted, then the fork server's `ExitReport`:
of fixed size, so that nothing the job writes can be mistaken for it.
"""

import struct
from typing import Literal

import msgspec

from tintype.media.sandbox.registry import JobLimits

MAX_REQUEST_BYTES = 64 * 1024
MAX_REPLY_BYTES = 96 * 1024  # fits into the socket's buffer, so that writing never blocks
_EXIT_REPORT = struct.Struct("<4sii?dQ")
_MARK = b"END\n"


class JobRequest(msgspec.Struct, frozen=True):
    """One job to run."""

    name: str
    target: str
    arguments: msgspec.Raw
    timeout_s: float
    limits: JobLimits
    at_once: int
    reads: list[str]
    """Files and folders that the job may read, besides the libraries."""

    writes: list[str]
    """Folders that the job may write to, besides a temporary one of its own."""


class Reply(msgspec.Struct, frozen=True):
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
