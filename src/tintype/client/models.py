"""What a client hears, and how it ends."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class LiveUpdate:
    """One update: its number in the account's sequence, and what happened."""

    seq: int
    kind: str
    payload: dict[str, Any]


class ResetNeeded(Exception):
    """The server no longer has all updates since the position that was stored: fetch the state anew.

    Continue with a new client at `seq`, which is the position of that state or before it.
    """

    def __init__(self, seq: int) -> None:
        super().__init__(f"fetch the state anew, then continue at {seq}")
        self.seq = seq


class SignedOut(Exception):
    """The server does not accept the token any more."""


class CommandRefused(Exception):
    """The server refused a command, for good."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
