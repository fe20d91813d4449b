"""What passes between a process that wants a job done, the helper, and the process that does it.

A request goes to the helper as one packet, with one end of a socket pair beside it. On that pair comes back first
what the job says (an `Answer`, written by the job's process: read as text from a stranger), then what the helper
says about its end: an `Ending` of fixed size, so that nothing the job writes can be taken for it.
"""

import struct
from typing import Literal

import msgspec

from tintype.media.sandbox.registry import Limits

MOST_REQUEST_BYTES = 64 * 1024
MOST_ANSWER_BYTES = 96 * 1024  # fits into the socket's buffer, so that nobody waits for a reader
_ENDING = struct.Struct("<4sii?dQ")
_MARK = b"END\n"


class Request(msgspec.Struct, frozen=True):
    """One job to do."""

    name: str
    target: str
    arguments: msgspec.Raw
    timeout_s: float
    limits: Limits
    at_once: int
    reads: list[str]
    """Files and folders that the job may read, beside the libraries."""

    writes: list[str]
    """Folders that the job may write to, beside a temporary one of its own."""


class Answer(msgspec.Struct, frozen=True):
    """What a job says: its result, the refusal it raised, or that it broke."""

    kind: Literal["result", "refused", "no_memory", "no_space", "broken"]
    result: msgspec.Raw = msgspec.Raw(b"\xc0")
    code: str = ""
    detail: str = ""
    facts: dict[str, str | int | float] = msgspec.field(default_factory=dict[str, str | int | float])


class Ending(msgspec.Struct, frozen=True):
    """How a job's process ended, as the helper saw it."""

    exit_code: int
    signal: int
    is_timed_out: bool
    cpu_s: float
    peak_bytes: int

    def pack(self) -> bytes:
        """Return the last bytes on a job's socket."""
        return _ENDING.pack(
            _MARK, self.exit_code, self.signal, self.is_timed_out, self.cpu_s, self.peak_bytes
        )


def split_ending(received: bytes) -> tuple[bytes, Ending] | None:
    """Return what the job said and how it ended; nothing when the helper itself is gone."""
    if len(received) < _ENDING.size:
        return None
    mark, *fields = _ENDING.unpack(received[-_ENDING.size :])
    return (received[: -_ENDING.size], Ending(*fields)) if mark == _MARK else None
