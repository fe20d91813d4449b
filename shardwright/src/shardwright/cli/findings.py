"""Findings of `shardwright doctor`."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """Result of one check, and what to do about it; a note needs nothing done, and does not fail the command."""

    check: str
    level: Literal["ok", "note", "warning", "failure"]
    what: str
    advice: str
