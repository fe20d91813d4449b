"""What an operator should know about a move that has not ended: how long old copies are kept, and who ends it."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from shardwright.moves.models import Move

LATE = timedelta(minutes=10)
"""Whoever tends moves does so every few minutes."""


@dataclass(frozen=True)
class Judgement:
    """What is the case, and what to do about it; nothing to do if that is empty."""

    what: str
    advice: str = ""


def judge_move(move: Move, now: datetime) -> Judgement:
    """Say what a move keeps and until when, or that it waits for somebody."""
    due_at = move.due_at
    if due_at is not None and due_at > now:
        return Judgement(
            f"{move}: server {move.source} keeps the old copies until {_show(due_at)}, and `shardwright move back "
            f"{move.id}` undoes it"
        )
    if move.is_over(now):
        since = due_at or move.stepped_at or now
        what = f"{move}: the old copies on server {move.source} are no longer wanted since {_show(since)}"
        late = (
            f"nobody drops them: run `shardwright move tend` as a job, or `shardwright move finish {move.id}`"
        )
        return Judgement(what, late if now - since > LATE else "")
    if move.is_kept:
        return Judgement(
            f"{move}: server {move.source} keeps the old copies, with WAL, until somebody ends the move",
            f"run `shardwright move finish {move.id}`, or `shardwright move back {move.id}` to undo it",
        )
    since = move.stepped_at or move.started_at or now
    what = f"{move} is at the step {move.step} since {_show(since)}"
    waits = f"if no command is running, run `shardwright move resume {move.id}`, or `abort` it"
    return Judgement(what, waits if now - since > LATE else "")


def _show(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M} UTC"
