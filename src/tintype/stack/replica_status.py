"""How far each replica is behind its primary, asked of both: for `tintype status` and `tintype doctor`."""

import asyncio
import enum
from collections.abc import Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import asyncpg
import msgspec
from asyncpg import Connection, PostgresError, TargetServerAttributeNotMatched

from tintype.stack.address_forms import without_secrets

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

_TIMEOUT_S = 3
_ATTEMPTS = 4
_PAUSE_S = 0.1
_NO_ANSWER = (OSError, TimeoutError, PostgresError, TargetServerAttributeNotMatched)
"""The last: of several hosts only standbys answer."""
_WRITTEN = "SELECT pg_current_wal_flush_lsn()::text"
_POSITION = """
SELECT pg_is_in_recovery() AS is_standby,
       greatest($1::text::pg_lsn - pg_last_wal_replay_lsn(), 0)::bigint AS lag_bytes,
       extract(epoch FROM now() - pg_last_xact_replay_timestamp())::float8 AS lag_s
"""
BEHIND_S = 10.0
"""From this many seconds on a replica counts as behind."""


class ReplicaState(enum.StrEnum):
    """What a replica does."""

    FOLLOWING = "following"
    BEHIND = "behind"
    """It follows its primary, but late."""
    PROMOTED = "promoted"
    """It has become a primary."""
    UNREACHABLE = "unreachable"


class ReplicaStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One replica, as `tintype status` shows it."""

    server: str
    address: str
    state: ReplicaState
    lag_bytes: int | None = None
    """WAL of the primary that it has not replayed."""
    lag_s: float | None = None
    """How long ago the last transaction that it has replayed was committed; zero when it has replayed all."""
    detail: str = ""


async def read_replicas(
    servers: Mapping[str, str], replicas: Mapping[str, Sequence[str]]
) -> list[ReplicaStatus]:
    """Ask every replica of every server, all at once; addresses by the server's name."""
    asked = [_read(name, servers[name], dsn) for name, dsns in replicas.items() for dsn in dsns]
    return list(await asyncio.gather(*asked))


async def _read(server: str, primary: str, replica: str) -> ReplicaStatus:
    address = without_secrets(replica)
    written, problem = None, ""
    try:
        written = await _read_written(primary)
    except _NO_ANSWER as error:
        problem = f"its primary does not answer: {_first_line(error)}".rstrip(": ")
    try:
        row = await _read_position(replica, written)
    except _NO_ANSWER as error:
        detail = _first_line(error) or "no answer in time"
        return ReplicaStatus(server=server, address=address, state=ReplicaState.UNREACHABLE, detail=detail)
    if not row["is_standby"]:
        return ReplicaStatus(server=server, address=address, state=ReplicaState.PROMOTED)
    lag_s = 0.0 if written is None or row["lag_bytes"] == 0 else row["lag_s"]
    return ReplicaStatus(
        server=server,
        address=address,
        state=ReplicaState.BEHIND if (lag_s or 0.0) > BEHIND_S else ReplicaState.FOLLOWING,
        lag_bytes=None if written is None else row["lag_bytes"],
        lag_s=None if written is None else lag_s,
        detail=problem,
    )


def _first_line(error: Exception) -> str:
    """What PostgreSQL says, without the detail that it adds in further lines."""
    return str(error).partition("\n")[0]


async def _read_written(primary: str) -> str:
    async with _connected(primary, target="primary") as connection:
        return cast("str", await connection.fetchval(_WRITTEN))


async def _read_position(
    replica: str, written: str | None
) -> Mapping[str, Any]:  # a row: values of many types
    """Where it stands against what its primary had written before; one that is just about there is given a moment.

    Without that a site where nothing has happened for an hour would seem to be an hour behind.
    """
    async with _connected(replica) as connection:
        row: Mapping[str, Any] = {}
        for attempt in range(_ATTEMPTS):
            if attempt:
                await asyncio.sleep(_PAUSE_S)
            row = cast("Mapping[str, Any]", await connection.fetchrow(_POSITION, written))
            if not row["lag_bytes"]:
                break
        return row


@asynccontextmanager
async def _connected(dsn: str, target: str = "any") -> "AsyncGenerator[Connection]":
    """A connection to this kind of host (`primary`, `any`) among those of the address."""
    connect = cast("Any", asyncpg.connect)  # its types know no texts for target_session_attrs
    async with asyncio.timeout(_TIMEOUT_S):
        connection = cast("Connection", await connect(dsn, timeout=_TIMEOUT_S, target_session_attrs=target))
        try:
            yield connection
        finally:
            await connection.close(timeout=_TIMEOUT_S)
