"""A move of shards as the directory's journal has it, and its steps."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Literal

from shardwright.ids import schema_name


class Step(StrEnum):
    """What a move is doing, in order. It is journalled before the step has any effect."""

    CHECK = "check"
    CREATE = "create"
    LINK = "link"
    COPY = "copy"
    INDEX = "index"
    CATCH_UP = "catch_up"
    ARM = "arm"
    FENCE = "fence"
    DRAIN = "drain"
    ACTIVATE = "activate"
    FLIP = "flip"
    FOLLOW = "follow"
    VERIFY = "verify"
    KEEP = "keep"
    """The target owns the shards; the source follows it, so that the move can be undone."""
    UNLINK = "unlink"
    DROP = "drop"
    DONE = "done"
    ABORT = "abort"
    ABORTED = "aborted"


ORDER = tuple(Step)
MOVING = ORDER[: ORDER.index(Step.KEEP)]
"""The steps that lead to a new owner, from the first on."""
FINISHING = (Step.UNLINK, Step.DROP)
UNDOABLE = frozenset(ORDER[: ORDER.index(Step.ACTIVATE)])
"""Until the next step is journalled, the source is the only server that can own the shards."""
ENDED = frozenset({Step.DONE, Step.ABORTED})


@dataclass(frozen=True)
class Move:
    """Shards on their way from one server to another, together.

    `turn` counts how often the direction was changed: `source` and `target` are those of the current turn.
    """

    id: int
    name: str
    shards: tuple[int, ...]
    source: str
    target: str
    turn: int
    step: Step
    attempt: int
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    started_at: datetime | None = None
    stepped_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def due_at(self) -> datetime | None:
        """When the old copies may be dropped; None where nobody has said, or they do not follow yet."""
        keep_s = self.details.get("keep_s")
        if self.step is not Step.KEEP or keep_s is None or self.stepped_at is None:
            return None
        return self.stepped_at + timedelta(seconds=keep_s)

    @property
    def is_kept(self) -> bool:
        """Whether its old copies follow the owner, so that it can be undone."""
        return self.step is Step.KEEP

    def is_over(self, now: datetime) -> bool:
        """Whether nobody wants it any more: the time of its old copies is over, or ending it was interrupted."""
        return self.step in FINISHING or (self.due_at is not None and self.due_at <= now)

    @property
    def schemas(self) -> list[str]:
        """The schemas of its shards."""
        return [schema_name(number) for number in self.shards]

    @property
    def link(self) -> str:
        """The name of the publication, slot and subscription from the source to the target."""
        return f"{self.name}_{self.turn}"

    @property
    def reverse_link(self) -> str:
        """The name of those from the target back to the source."""
        return f"{self.name}_{self.turn + 1}"

    def __str__(self) -> str:
        shown = ", ".join(self.schemas[:4]) + (" …" if len(self.schemas) > 4 else "")  # noqa: PLR2004 - enough to recognise it
        return f"move {self.id} ({shown} from {self.source} to {self.target})"


@dataclass(frozen=True)
class MoveProgress:
    """How far a move is; what is not known yet is None."""

    move: Move
    tables_copied: int | None = None
    tables: int | None = None
    rows: int | None = None
    rows_total: int | None = None
    size_bytes: int | None = None
    size_total_bytes: int | None = None
    lag_bytes: int | None = None
    errors: int = 0
    """How often the target failed to apply or copy; its log says why."""


Phase = Literal["begin", "effect"]
OnProgress = Callable[[MoveProgress], None]
OnStep = Callable[[Move, Phase], None]
"""Called when a step begins, and when it has had its effect and the next one is not journalled yet."""


@dataclass(frozen=True)
class MoveOptions:
    """Limits of a move."""

    max_lag_s: float = 0.2
    """Writes are stopped only while a change takes less than this from the source to the target."""
    lock_timeout_ms: int = 250
    """How long writers may wait for those that are not finished, at one attempt to stop them."""
    fence_attempts: int = 60
    drain_timeout_s: float = 10.0
    """If the target has not everything by then, the source goes on as the owner."""
    busy_timeout_s: float = 15.0
    """How long a migration, or a move that is ending, is waited for."""
    long_transaction_s: float = 60.0
    """A move does not start while a transaction of this age is open on either server: it would wait for it."""
    poll_s: float = 0.5
    copy_jobs: int = 4
    """How many tables are copied at once; few where there is little to copy."""
    index_jobs: int = 4
    """How many indexes are created at once at the target, and tables analysed."""
    copy_bytes_per_s: int = 0
    """On average no more rows are copied a second, in bytes of text. Zero: as fast as it goes."""
    max_replica_lag_bytes: int = 0
    """Copying pauses while a streaming replica of either server lags more. Zero: it does not wait."""
    room_bytes: Mapping[str, int] = field(default_factory=dict[str, int])
    """How much room each server has, by name, where that cannot be measured."""
