"""Checks of `shardwright doctor` on ids: shards that run ahead of the clock, and shards whose ids are closed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shardwright.cli.doctor_guards import Guards
from shardwright.cli.findings import Finding
from shardwright.ids import Layout, ahead_ms_sql, is_fenced_sql, schema_name

# More than a crash or a large batch explains: a clock was wrong once.
_MAX_AHEAD_MS = 60_000
_WORTH_A_CURE_MS = 3_600_000
_SHARDS_PER_QUERY = 200


@dataclass(frozen=True)
class _IdState:
    number: int
    ahead_ms: int
    is_fenced: bool


async def check_ids(
    connection: Any, name: str, layout: Layout, numbers: Sequence[int], guards: Guards
) -> list[Finding]:
    """Whether the ids of the shards that a server owns are near its clock, and open."""
    states = await _read_states(connection, layout, [number for number in numbers if number in guards])
    return [
        *_check_ahead(name, states),
        *(_check_fence(name, each.number) for each in states if each.is_fenced and guards[each.number]),
    ]


def _check_ahead(name: str, states: Sequence[_IdState]) -> list[Finding]:
    ahead = sorted(
        (each for each in states if each.ahead_ms > _MAX_AHEAD_MS), key=lambda each: -each.ahead_ms
    )
    if not ahead:
        return []
    first = ahead[0]
    others = f" (and of {len(ahead) - 1} more shards)" if len(ahead) > 1 else ""
    what = (
        f"ids of {schema_name(first.number)}{others} on {name} run {first.ahead_ms / 1000:.0f} s ahead of its clock, "
        "which was wrong once"
    )
    advice = "nothing: they stay unique, and the clock catches up"
    if first.ahead_ms > _WORTH_A_CURE_MS:
        advice = f"run shardwright ids lower --shard {first.number}, or wait until the clock has caught up"
    return [Finding("ids", "warning", what, advice)]


def _check_fence(name: str, number: int) -> Finding:
    what = f"{name} accepts writes to {schema_name(number)} and generates no ids for it"
    cure = f"call set_owned(connection, {number}, owned=True) on {name}, unless a move is running"
    return Finding("ids", "failure", what, f"a move was rolled back: {cure}")


async def _read_states(connection: Any, layout: Layout, numbers: Sequence[int]) -> list[_IdState]:
    found: list[_IdState] = []
    for start in range(0, len(numbers), _SHARDS_PER_QUERY):
        each = [
            f"SELECT {number}, ({ahead_ms_sql(number, layout)}), ({is_fenced_sql(number)})"
            for number in numbers[start : start + _SHARDS_PER_QUERY]
        ]
        rows = await connection.fetch(" UNION ALL ".join(each))
        found += [_IdState(number, ahead_ms or 0, is_fenced) for number, ahead_ms, is_fenced in rows]
    return found
