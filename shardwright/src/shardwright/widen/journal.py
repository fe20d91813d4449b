"""The journal of a widening: one row in a table beside those that it changes, written with what it says."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from shardwright.topology import fetch_rows, fetch_value
from shardwright.widen.models import ColumnName, Step, quote

if TYPE_CHECKING:
    from asyncpg import Connection

TABLE = "shardwright_widening"
_EXISTS = "SELECT to_regclass(format('%I.%I', $1::text, $2::text)) IS NOT NULL"


@dataclass(frozen=True)
class Widening:
    """A widening as the journal has it; `filled_blocks` says by table how far its rows are filled."""

    schema: str
    asked: tuple[str, ...]
    columns: tuple[ColumnName, ...]
    step: Step
    filled_blocks: Mapping[str, int]
    started_at: datetime
    stepped_at: datetime

    def __str__(self) -> str:
        return f"the widening of {', '.join(self.asked)}"


async def read_widening(conn: "Connection", schema: str) -> Widening | None:
    """The widening in progress in this schema, if there is one."""
    if not await fetch_value(conn, _EXISTS, schema, TABLE):
        return None
    rows = await fetch_rows(conn, f"SELECT * FROM {_table(schema)}")
    if not rows:
        return None
    row = rows[0]
    columns = tuple(ColumnName(*names) for names in json.loads(row["columns"]))
    return Widening(
        schema=schema,
        asked=tuple(row["asked"]),
        columns=columns,
        step=Step(row["step"]),
        filled_blocks=json.loads(row["filled_blocks"]),
        started_at=row["started_at"],
        stepped_at=row["stepped_at"],
    )


async def begin(conn: "Connection", schema: str, asked: Sequence[str], columns: Sequence[ColumnName]) -> None:
    """Journal a new widening; in the transaction that adds its columns."""
    await conn.execute(
        f"""CREATE TABLE IF NOT EXISTS {_table(schema)} (
          only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one), asked text[] NOT NULL, columns jsonb NOT NULL,
          step text NOT NULL, filled_blocks jsonb NOT NULL DEFAULT '{{}}',
          started_at timestamptz NOT NULL DEFAULT now(), stepped_at timestamptz NOT NULL DEFAULT now())"""
    )
    names = [[each.schema, each.table, each.column] for each in columns]
    sql = f"INSERT INTO {_table(schema)} (asked, columns, step) VALUES ($1, $2, $3)"
    await conn.execute(sql, list(asked), json.dumps(names), Step.ADDED)


async def set_step(conn: "Connection", schema: str, step: Step) -> None:
    """Journal what has become true."""
    await conn.execute(f"UPDATE {_table(schema)} SET step = $1, stepped_at = now()", step)


async def set_filled_blocks(conn: "Connection", schema: str, table: str, blocks: int) -> None:
    """Journal how far a table is filled; in the transaction of the batch."""
    sql = f"UPDATE {_table(schema)} SET filled_blocks = filled_blocks || jsonb_build_object($1::text, $2::bigint)"
    await conn.execute(sql, table, blocks)


async def end(conn: "Connection", schema: str) -> None:
    """Forget the widening; in the transaction that removes the last of it."""
    await conn.execute(f"DROP TABLE {_table(schema)}")


def _table(schema: str) -> str:
    return f"{quote(schema)}.{TABLE}"
