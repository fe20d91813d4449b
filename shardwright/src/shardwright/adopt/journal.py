"""The journal of adoptions, in the directory.

A step is journalled before it has any effect, by compare-and-set on the step and the attempt, and so is every batch of
changes: a coordinator that was paused, while another one took over, can no longer lead the adoption anywhere.
"""

import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import asyncpg

from shardwright.adopt.errors import AdoptRefused
from shardwright.adopt.models import ENDED, Adoption, Step
from shardwright.adopt.plan import Plan
from shardwright.adopt.streams import lsn_text, parse_lsn
from shardwright.errors import SetupInvalid
from shardwright.topology import DIRECTORY_SCHEMA, Directory, fetch_rows, fetch_value

if TYPE_CHECKING:
    from asyncpg import Connection, Record

PREFIX = "shardwright_adopt_"
_ADOPTIONS = f"{DIRECTORY_SCHEMA}.adoptions"
_STEPS = f"{DIRECTORY_SCHEMA}.adoption_steps"
_STREAMS = f"{DIRECTORY_SCHEMA}.adoption_streams"
_READ = f"""\
SELECT a.id, a.name, a.plan::text AS plan, a.step, a.turn, a.attempt, a.details::text AS details, a.started_at,
  a.ended_at, (SELECT max(at) FROM {_STEPS} s WHERE s.adoption_id = a.id) AS stepped_at
FROM {_ADOPTIONS} a
"""
# One statement: writers may be waiting for it.
_ADVANCE = f"""\
WITH changed AS (
  UPDATE {_ADOPTIONS} SET step = $4, turn = turn + $5, details = details || $6::jsonb,
    ended_at = CASE WHEN $7 THEN clock_timestamp() END
  WHERE id = $1 AND step = $2 AND attempt = $3 RETURNING id, turn, step, attempt
), streams AS (
  INSERT INTO {_STREAMS} (adoption_id, database, applied, applying)
  SELECT id, s.database, s.applied::pg_lsn, s.applying::pg_lsn
  FROM changed, unnest($8::text[], $9::text[], $10::text[]) AS s (database, applied, applying)
  ON CONFLICT (adoption_id, database) DO UPDATE SET applying = excluded.applying, applied = excluded.applied
)
INSERT INTO {_STEPS} (adoption_id, number, turn, step, attempt)
SELECT id, (SELECT coalesce(max(number), 0) + 1 FROM {_STEPS} WHERE adoption_id = $1), turn, step, attempt FROM changed
RETURNING at
"""
_NOTE = f"UPDATE {_ADOPTIONS} SET details = details || $3::jsonb WHERE id = $1 AND attempt = $2 RETURNING id"
_SET_STREAMS = f"""\
INSERT INTO {_STREAMS} (adoption_id, database, applied, applying)
SELECT a.id, s.database, s.applied::pg_lsn, s.applying::pg_lsn
FROM {_ADOPTIONS} a, unnest($3::text[], $4::text[], $5::text[]) AS s (database, applied, applying)
WHERE a.id = $1 AND a.attempt = $2
ON CONFLICT (adoption_id, database) DO UPDATE SET applying = excluded.applying, applied = excluded.applied
RETURNING adoption_id
"""


class Position(NamedTuple):
    """Up to which LSN changes of a database were applied, and up to which they are being applied."""

    applied: int
    applying: int


async def read_adoptions(directory: Directory, *, ended: bool = False) -> list[Adoption]:
    """The adoptions that have not ended, or all of them, oldest first."""
    condition = "" if ended else "WHERE a.ended_at IS NULL "
    async with directory.connect() as conn:
        try:
            rows = await fetch_rows(conn, f"{_READ}{condition}ORDER BY a.id")
        except asyncpg.UndefinedTableError as error:
            raise SetupInvalid(
                "the directory has no journal of adoptions: run `shardwright upgrade` first"
            ) from error
    return [_to_adoption(row) for row in rows]


async def get_adoption(directory: Directory) -> Adoption:
    """The adoption in progress; raises when there is none."""
    found = await read_adoptions(directory)
    if not found:
        raise AdoptRefused("nothing is being adopted: `shardwright adopt start` begins an adoption")
    return found[-1]


async def begin_adoption(directory: Directory, plan: Plan) -> Adoption:
    """Journal a new adoption; there is one at a time."""
    if open_ones := await read_adoptions(directory):
        raise AdoptRefused(
            f"{open_ones[0]} has not ended: `shardwright adopt resume`, `abort` or `finish` it first"
        )
    async with directory.connect() as conn, conn.transaction():
        await conn.execute(f"SELECT FROM {DIRECTORY_SCHEMA}.settings FOR UPDATE")  # one at a time
        if await fetch_value(conn, f"SELECT EXISTS (SELECT FROM {_ADOPTIONS} WHERE ended_at IS NULL)"):
            raise AdoptRefused("another adoption has just begun: see `shardwright adopt status`")
        number = await fetch_value(
            conn,
            f"INSERT INTO {_ADOPTIONS} (name, plan, step) VALUES ($1, $2, $3) RETURNING id",
            f"{PREFIX}{secrets.token_hex(4)}",
            json.dumps(plan.to_dict()),
            Step.CHECK,
        )
        await conn.execute(
            f"INSERT INTO {_STEPS} (adoption_id, number, turn, step, attempt) VALUES ($1, 1, 0, $2, 0)",
            number,
            Step.CHECK,
        )
    return await get_adoption(directory)


class Journal:
    """Writes the journal of one adoption, on behalf of one attempt to carry it out."""

    def __init__(self, conn: "Connection", adoption: Adoption) -> None:
        self.conn = conn
        self.adoption = adoption
        self._deferred: dict[str, Position] = {}

    @classmethod
    async def claim(cls, directory: Directory, adoption: Adoption) -> "Journal":
        """Take the adoption over: earlier attempts cannot write to the journal any more."""
        conn = await directory.connection()
        try:
            await conn.execute(f"UPDATE {_ADOPTIONS} SET attempt = attempt + 1 WHERE id = $1", adoption.id)
            rows = await fetch_rows(conn, f"{_READ} WHERE a.id = $1", adoption.id)
        except BaseException:
            conn.terminate()
            raise
        return cls(conn, _to_adoption(rows[0]))

    async def close(self) -> None:
        """Close its connection to the directory."""
        await self.conn.close()

    async def refresh(self) -> None:
        """Read again what another process may have journalled before it let go; raises when it was taken over."""
        rows = await fetch_rows(self.conn, f"{_READ} WHERE a.id = $1", self.adoption.id)
        found = _to_adoption(rows[0])
        if found.attempt != self.adoption.attempt:
            raise TakenOver(self.adoption)
        self.adoption = found

    async def advance(
        self, step: Step, details: Mapping[str, Any] | None = None, *, turns: int = 0
    ) -> Adoption:
        """Journal the next step, with positions that were deferred; a turn changes the owner of the rows."""
        old, more = self.adoption, dict(details or {})
        is_end, streams = step in ENDED, _columns(self._deferred)
        values = old.id, old.step, old.attempt, step, turns, json.dumps(more), is_end, *streams
        changed = await fetch_rows(self.conn, _ADVANCE, *values)
        if not changed:
            raise TakenOver(old)
        self._deferred.clear()
        self.adoption = replace(
            old,
            step=step,
            turn=old.turn + turns,
            details={**old.details, **more},
            stepped_at=changed[0]["at"],
        )
        return self.adoption

    async def note(self, details: Mapping[str, Any]) -> None:
        """Journal what a step has found out or done, within the step."""
        old, more = self.adoption, dict(details)
        if not await fetch_rows(self.conn, _NOTE, old.id, old.attempt, json.dumps(more)):
            raise TakenOver(old)
        self.adoption = replace(old, details={**old.details, **more})

    async def read_streams(self, databases: Iterable[str]) -> dict[str, Position]:
        """How far changes of these databases are applied."""
        rows = await fetch_rows(
            self.conn,
            f"SELECT database, applied::text, applying::text FROM {_STREAMS} WHERE adoption_id = $1",
            self.adoption.id,
        )
        known = {
            row["database"]: Position(parse_lsn(row["applied"]), parse_lsn(row["applying"])) for row in rows
        }
        return {name: known.get(name, Position(0, 0)) for name in databases}

    async def set_streams(self, positions: Mapping[str, Position]) -> None:
        """Journal how far changes of these databases are applied, and will be."""
        old, positions = self.adoption, {**self._deferred, **positions}
        if not positions:
            return
        if not await fetch_rows(self.conn, _SET_STREAMS, old.id, old.attempt, *_columns(positions)):
            raise TakenOver(old)
        self._deferred.clear()

    def defer_streams(self, positions: Mapping[str, Position]) -> None:
        """Journal this with whatever is journalled next: writers wait. Until then such changes may be applied again."""
        self._deferred |= positions


class TakenOver(AdoptRefused):
    """Another process works on the adoption now."""

    def __init__(self, adoption: Adoption) -> None:
        super().__init__(f"another process has taken over {adoption}: see `shardwright adopt status`")


def _to_adoption(row: "Record") -> Adoption:
    return Adoption(
        id=row["id"],
        name=row["name"],
        plan=json.loads(row["plan"]),
        step=Step(row["step"]),
        turn=row["turn"],
        attempt=row["attempt"],
        details=json.loads(row["details"]),
        started_at=row["started_at"],
        stepped_at=row["stepped_at"],
        ended_at=row["ended_at"],
    )


def _columns(positions: Mapping[str, Position]) -> tuple[list[str], list[str], list[str]]:
    """The positions as three arrays: databases, applied and applying."""
    applied = [lsn_text(each.applied) for each in positions.values()]
    return list(positions), applied, [lsn_text(each.applying) for each in positions.values()]
