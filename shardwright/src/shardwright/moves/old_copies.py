"""Drops copies of shards on servers that do not own them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shardwright.ids import schema_name
from shardwright.moves.errors import MoveFailed
from shardwright.topology import is_owned

if TYPE_CHECKING:
    from asyncpg import Connection


async def drop_copies(conn: "Connection", numbers: Sequence[int]) -> None:
    """Drop these shards from a server, which must not own any of them; those that are not there are left out."""
    for number in numbers:
        async with conn.transaction():
            if await is_owned(conn, number):
                raise MoveFailed(
                    f"the copy of {schema_name(number)} that was to be dropped accepts writes: it stays"
                )
            await conn.execute(
                f"SET LOCAL lock_timeout = '10s'; DROP SCHEMA IF EXISTS {schema_name(number)} CASCADE"
            )
