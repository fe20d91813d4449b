"""Moves of shards that have not ended: what they keep and until when, for `tintype status` and `tintype doctor`."""

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from shardwright.command_names import as_called
from shardwright.moves import judge_move, read_moves
from shardwright.topology import Directory
from tintype.stack.doctor_checks import Finding, Verdict

_NOBODY_ENDS_IT = (
    "Nobody ends it then: `tintype up` does if postgres_admin names the servers as a superuser; otherwise run "
    "`tintype shards move tend` as a job."
)


class MoveStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One move, as `tintype status` shows it."""

    move: int
    shards: tuple[str, ...]
    source: str
    target: str
    step: str
    since: datetime | None
    until: datetime | None
    """When its old copies are dropped; None where nobody has said, or they do not follow yet."""
    what: str
    advice: str
    """What to do about it; empty: nothing."""


async def read_move_status(directory_dsn: str) -> list[MoveStatus]:
    """The moves that have not ended, oldest first."""
    directory = await Directory.open(directory_dsn)
    try:
        moves = await read_moves(directory)
    finally:
        await directory.close()
    found: list[MoveStatus] = []
    for each in moves:
        judged = judge_move(each, datetime.now(UTC))
        found.append(
            MoveStatus(
                move=each.id,
                shards=tuple(each.schemas),
                source=each.source,
                target=each.target,
                step=str(each.step),
                since=each.stepped_at,
                until=each.due_at,
                what=as_called(judged.what, "tintype shards"),
                advice=as_called(judged.advice, "tintype shards"),
            )
        )
    return found


def check_moves(moves: Sequence[MoveStatus], *, is_tended: bool) -> list[Finding]:
    """One finding for each move: a warning where somebody should do something about it.

    `is_tended` is whether the supervisor ends moves when their time is over.
    """
    findings: list[Finding] = []
    for each in moves:
        fix = each.advice or (_NOBODY_ENDS_IT if each.until is not None and not is_tended else "")
        verdict = Verdict.WARNING if fix else Verdict.OK
        findings.append(Finding(f"move {each.move}", verdict, each.what, fix))
    return findings
