"""The journal of moves, in the directory.

A step is journalled before it has any effect, by compare-and-set on the step and the attempt: a coordinator that was
paused, while another one took over, can no longer lead the move anywhere.
"""

import asyncio
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import asyncpg

from shardwright.errors import SetupInvalid
from shardwright.moves.errors import MoveRefused
from shardwright.moves.models import ENDED, Move, Step
from shardwright.topology import DIRECTORY_SCHEMA, Directory, fetch_rows

if TYPE_CHECKING:
    from asyncpg import Connection, Record

PREFIX = "shardwright_move_"
"""Begins the name of everything that a move creates on servers, beside the shards."""

_MOVES = f"{DIRECTORY_SCHEMA}.moves"
_STEPS = f"{DIRECTORY_SCHEMA}.move_steps"
_READ = f"""\
SELECT m.id, m.name, m.shards, m.source, m.target, m.turn, m.step, m.attempt, m.details::text AS details, m.started_at,
  m.ended_at, (SELECT max(at) FROM {_STEPS} s WHERE s.move_id = m.id) AS stepped_at
FROM {_MOVES} m
"""  # noqa: S608 - constants of the library
_INSERT = f"""\
INSERT INTO {_MOVES} (name, shards, source, target, step, details) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id
"""  # noqa: S608 - likewise
# One statement: writers may be waiting for it.
_ADVANCE = f"""\
WITH changed AS (
  UPDATE {_MOVES} SET step = $5, source = $6, target = $7, turn = $8, details = details || $9::jsonb,
    ended_at = CASE WHEN $10 THEN clock_timestamp() END
  WHERE id = $1 AND step = $2 AND turn = $3 AND attempt = $4 RETURNING id, turn, step, attempt
)
INSERT INTO {_STEPS} (move_id, number, turn, step, attempt)
SELECT id, (SELECT coalesce(max(number), 0) + 1 FROM {_STEPS} WHERE move_id = $1), turn, step, attempt FROM changed
RETURNING at
"""  # noqa: S608 - likewise
_LOG = f"""\
INSERT INTO {_STEPS} (move_id, number, turn, step, attempt)
SELECT $1, coalesce(max(number), 0) + 1, $2, $3, $4 FROM {_STEPS} WHERE move_id = $1
"""  # noqa: S608 - likewise


async def read_moves(directory: Directory, *, ended: bool = False) -> list[Move]:
    """The moves that have not ended, or all of them, oldest first."""
    condition = "" if ended else "WHERE m.ended_at IS NULL "
    async with directory.connect() as conn:
        try:
            rows = await fetch_rows(conn, f"{_READ}{condition}ORDER BY m.id")
        except asyncpg.UndefinedTableError as error:
            raise SetupInvalid(
                "the directory has no journal of moves: run `shardwright upgrade` first"
            ) from error
    return [_to_move(row) for row in rows]


async def read_move(directory: Directory, move_id: int) -> Move:
    """One move; raises when there is none of that number."""
    for move in await read_moves(directory, ended=True):
        if move.id == move_id:
            return move
    raise MoveRefused(f"there is no move {move_id}: see `shardwright move status`")


async def plan_move(
    directory: Directory, shards: Sequence[int], target: str, keep_s: float | None = None
) -> Move:
    """Journal a new move of shards that one server owns and that no other move has."""
    shard_map = await directory.load()
    if target not in shard_map.servers:
        known = ", ".join(sorted(shard_map.servers))
        raise MoveRefused(f"there is no server {target!r} in the map: it knows {known}")
    wanted = sorted(set(shards))
    if not wanted:
        raise MoveRefused("name at least one shard to move")
    sources = {shard_map.server_of(number).name for number in wanted}
    if len(sources) > 1:
        raise MoveRefused(
            f"these shards are on several servers ({', '.join(sorted(sources))}): move those of one"
        )
    if sources == {target}:
        raise MoveRefused(f"these shards are on server {target} already")
    name = f"{PREFIX}{secrets.token_hex(4)}"
    async with directory.connect() as conn, conn.transaction():
        await conn.execute(f"SELECT FROM {DIRECTORY_SCHEMA}.settings FOR UPDATE")  # one planner at a time
        await _refuse_moving(conn, wanted)
        details = json.dumps({} if keep_s is None else {"keep_s": keep_s})
        rows = await fetch_rows(conn, _INSERT, name, wanted, sources.pop(), target, Step.CHECK, details)
        await conn.execute(_LOG, rows[0][0], 0, Step.CHECK, 0)
    return await read_move(directory, rows[0][0])


async def _refuse_moving(conn: "Connection", shards: Sequence[int]) -> None:
    try:
        rows = await fetch_rows(
            conn, f"{_READ} WHERE m.ended_at IS NULL AND m.shards && $1::integer[]", list(shards)
        )
    except asyncpg.UndefinedTableError as error:
        raise SetupInvalid(
            "the directory has no journal of moves: run `shardwright upgrade` first"
        ) from error
    for other in map(_to_move, rows):
        how = f"finish {other.id}" if other.step is Step.KEEP else f"resume {other.id}"
        raise MoveRefused(f"{other} has not ended: run `shardwright move {how}` first")


class Journal:
    """Writes the journal of one move, on behalf of one attempt to carry it out."""

    def __init__(self, conn: "Connection", move: Move, timeout_s: float) -> None:
        self.conn = conn
        self.move = move
        self._timeout_s = timeout_s

    @classmethod
    async def claim(cls, directory: Directory, move: Move, timeout_s: float) -> "Journal":
        """Take the move over: earlier attempts cannot write to the journal any more.

        A directory that does not answer is waited for so long, at every step: writers may be waiting as well.
        """
        conn = await directory.connection()
        try:
            async with asyncio.timeout(timeout_s):
                await conn.execute(f"UPDATE {_MOVES} SET attempt = attempt + 1 WHERE id = $1", move.id)  # noqa: S608 - constants
                rows = await fetch_rows(conn, f"{_READ} WHERE m.id = $1", move.id)
        except BaseException:
            conn.terminate()
            raise
        return cls(conn, _to_move(rows[0]), timeout_s)

    def close(self) -> None:
        """Close its connection to the directory, whether or not that answers."""
        self.conn.terminate()

    async def advance(self, step: Step, details: Mapping[str, Any] | None = None, *, turns: int = 0) -> Move:
        """Journal the next step; an odd number of `turns` exchanges source and target."""
        old = self.move
        source, target = (old.target, old.source) if turns % 2 else (old.source, old.target)
        async with asyncio.timeout(self._timeout_s):
            changed = await fetch_rows(
                self.conn,
                _ADVANCE,
                old.id,
                old.step,
                old.turn,
                old.attempt,
                step,
                source,
                target,
                old.turn + turns,
                json.dumps(dict(details or {})),
                step in ENDED,
            )
        if not changed:
            raise MoveRefused(f"another process has taken over {old}: see `shardwright move status`")
        self.move = replace(
            old,
            step=step,
            source=source,
            target=target,
            turn=old.turn + turns,
            details={**old.details, **(details or {})},
            stepped_at=changed[0]["at"],
        )
        return self.move


def _to_move(row: "Record") -> Move:
    return Move(
        id=row["id"],
        name=row["name"],
        shards=tuple(row["shards"]),
        source=row["source"],
        target=row["target"],
        turn=row["turn"],
        step=Step(row["step"]),
        attempt=row["attempt"],
        details=json.loads(row["details"]),
        started_at=row["started_at"],
        stepped_at=row["stepped_at"],
        ended_at=row["ended_at"],
    )
