"""Asks one host of a PostgreSQL address what it is: its version, its clock, whether it is a standby, who follows it."""

import asyncio
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import asyncpg
import msgspec

from tintype.stack.address_forms import without_secrets

if TYPE_CHECKING:
    from asyncpg import Connection

TIMEOUT_S = 5
_CLOCK = "SELECT extract(epoch FROM clock_timestamp())::float8"
# A superuser has every privilege. Whether a standby follows, the application's role may see, but not how far it is.
_FACTS = """
SELECT pg_is_in_recovery() AS is_standby, has_database_privilege(current_database(), 'CREATE') AS may_create,
  current_setting('server_version') AS version,
  (SELECT count(*) FROM pg_stat_get_wal_senders()) AS followers,
  current_setting('synchronous_standby_names') AS synchronous
"""


class PostgresAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What one host said of itself, or why it said nothing."""

    address: str
    problem: str = ""
    """Why it did not answer; nothing else is known then."""
    major: int = 0
    version: str = ""
    skew_s: float = 0.0
    """How far its clock is ahead of this machine's; exact to half of the round trip."""
    is_standby: bool = False
    may_create: bool = False
    """Whether the role may create tables, which the application never does."""
    followers: int = 0
    """Standbys and other programs that stream its WAL."""
    synchronous: bool = False
    """Whether a commit waits for a standby."""


async def ask_postgres(dsn: str) -> PostgresAnswer:
    """Ask the one host of this address; an answer in any case, within a few seconds."""
    address = without_secrets(dsn)
    try:
        async with asyncio.timeout(TIMEOUT_S):
            return await _ask(dsn, address)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
        return PostgresAnswer(address=address, problem=describe(error))


def describe(error: Exception) -> str:
    """Why a server did not answer, in the words of the client; a client that ran out of time has none."""
    return f"{type(error).__name__}: {error}" if str(error) else "no answer in time"


async def _ask(dsn: str, address: str) -> PostgresAnswer:
    connection = cast("Connection", await asyncpg.connect(dsn, timeout=TIMEOUT_S, statement_cache_size=0))
    try:
        asked_at = time.time()
        server_time = cast("float", await connection.fetchval(_CLOCK))
        skew_s = server_time - (asked_at + time.time()) / 2
        facts = cast("Mapping[str, Any]", await connection.fetchrow(_FACTS))  # a row: values of many types
        major = connection.get_server_version().major
    finally:
        await connection.close(timeout=TIMEOUT_S)
    return PostgresAnswer(
        address=address,
        major=major,
        version=facts["version"],
        skew_s=skew_s,
        is_standby=facts["is_standby"],
        may_create=facts["may_create"],
        followers=facts["followers"],
        synchronous=bool(facts["synchronous"]),
    )
