"""Moves that have not ended, for `shardwright status` and `shardwright doctor`."""

from collections.abc import Sequence
from datetime import UTC, datetime

from shardwright.cli.findings import Finding
from shardwright.command_names import as_called
from shardwright.errors import SetupInvalid
from shardwright.moves import Judgement, judge_move, read_moves
from shardwright.topology import Directory


async def judge_moves(directory: Directory) -> list[Judgement]:
    """What moves keep and until when, and which of them wait for somebody."""
    try:
        moves = await read_moves(directory)
    except SetupInvalid:
        return []  # a directory of an earlier release, which has no journal and moves nothing
    judged = [judge_move(move, datetime.now(UTC)) for move in moves]
    return [Judgement(as_called(each.what), as_called(each.advice)) for each in judged]


def check_moves(judged: Sequence[Judgement]) -> list[Finding]:
    """What is to be done about moves, or that nothing is."""
    findings = [
        Finding("moves", "warning" if each.advice else "note", each.what, each.advice) for each in judged
    ]
    return findings or [Finding("moves", "ok", "no shard is being moved, and no old copy is kept", "")]
