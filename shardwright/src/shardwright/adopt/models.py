"""An adoption as the directory's journal has it, its steps and its limits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal


class Step(StrEnum):
    """What an adoption is doing. It is journalled before the step has any effect."""

    CHECK = "check"
    PREPARE = "prepare"
    """The old database keeps its changes for us; nobody else can write to the adopted tables of shards."""
    COPY = "copy"
    FOLLOW = "follow"
    """Whoever does not own the rows follows the owner. An adoption may stay here for as long as you like."""
    ARM = "arm"
    FENCE = "fence"
    DRAIN = "drain"
    ACTIVATE = "activate"
    UNLINK = "unlink"
    FINISH = "finish"
    DONE = "done"
    ABORT = "abort"
    ABORTED = "aborted"


COPYING = (Step.CHECK, Step.PREPARE, Step.COPY)
SWITCHING = (Step.ARM, Step.FENCE, Step.DRAIN, Step.ACTIVATE, Step.UNLINK)
UNDOABLE = frozenset({*COPYING, Step.FOLLOW, Step.ARM, Step.FENCE, Step.DRAIN})
"""Until the next step is journalled, the owner of this turn is the only one that can own the rows."""
ENDED = frozenset({Step.DONE, Step.ABORTED})

SOURCE = "old database"
"""The name of the old database among those of servers."""


@dataclass(frozen=True)
class Adoption:
    """An unsharded database on its way into shards.

    `turn` counts how often the owner was changed: the old database owns the rows in even turns, the shards in odd ones.
    """

    id: int
    name: str
    plan: Mapping[str, Any]
    step: Step
    turn: int
    attempt: int
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    started_at: datetime | None = None
    stepped_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def is_switched(self) -> bool:
        """Whether the shards own the rows."""
        return self.turn % 2 == 1

    @property
    def owner(self) -> str:
        """Who owns the rows, in words."""
        return "the shards" if self.is_switched else "the old database"

    def __str__(self) -> str:
        return f"adoption {self.id}"


@dataclass(frozen=True)
class AdoptProgress:
    """How far an adoption is; what is not known yet is None."""

    adoption: Adoption
    doing: str
    rows: int = 0
    rows_total: int | None = None
    lag_bytes: int | None = None


Phase = Literal["begin", "effect"]
OnProgress = Callable[[AdoptProgress], None]
OnStep = Callable[[Adoption, Phase], None]
"""Called when a step begins, and when it has had its effect and the next one is not journalled yet."""


def no_progress(_: AdoptProgress) -> None:
    """Ignore progress: the default of whoever reports it."""


@dataclass(frozen=True)
class AdoptOptions:
    """Limits of an adoption."""

    max_lag_s: float = 0.2
    """Writes are stopped only when everything before was applied within this time."""
    lock_timeout_ms: int = 250
    """How long writers may wait for those that are not finished, at one attempt to stop them."""
    fence_attempts: int = 60
    drain_timeout_s: float = 10.0
    """If the followers have not everything by then, the owner goes on."""
    busy_timeout_s: float = 15.0
    """How long another process that works on the adoption is waited for."""
    poll_s: float = 0.2
    """How often new changes are looked for."""
    batch_changes: int = 5_000
    """About how many changes are applied at once; a transaction is never divided."""
    copy_bytes_per_s: int = 0
    """No more is copied a second on average. Zero: as fast as it goes."""
    max_replica_lag_bytes: int = 0
    """Copying waits while a streaming replica of any server lags more. Zero: it does not wait."""
    range_rows: int = 20_000
    """How many rows a checksum covers."""
    check_rounds: int = 5
    """How often a row that differs is looked at again: it may be changing."""
    may_return: bool = True
    """Refuse to switch where the old database could not take the rows back."""
