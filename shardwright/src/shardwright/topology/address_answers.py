"""What answers at the addresses of a server: all of them are asked at once, and none is waited for long.

A host that hangs accepts connections and says nothing, so an address after it must not wait for it.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, cast

import asyncpg

from shardwright.errors import ServerUnavailable
from shardwright.topology.connections import ANY_HOST, fetch_rows, open_connection

log = logging.getLogger(__name__)

PATIENCE_S = 1.0
"""How long the silent ones are waited for, once one of the addresses has said something."""
ASK_TIMEOUT_S = 3.0
"""How long while none has: the machine may be busy."""

# Of a primary its own timeline; of a standby the one that its primary has recorded.
TIMELINE_COLUMNS = """\
pg_is_in_recovery() AS is_standby, (SELECT system_identifier FROM pg_control_system()) AS cluster,
  CASE WHEN NOT pg_is_in_recovery()
    THEN ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer END AS timeline"""
_ASK_SERVER = f"""\
SELECT {TIMELINE_COLUMNS}, (SELECT timeline FROM shardwright.replication) AS recorded,
  (SELECT server_name FROM shardwright.identity) AS name
"""  # noqa: S608 - constants
# Of a database that is no server's: the directory's own, or one that is about to become a server's.
_ASK_ANY = f"SELECT {TIMELINE_COLUMNS}, NULL::integer AS recorded, NULL::text AS name"


class Answer(NamedTuple):
    """What a server at an address says of itself."""

    dsn: str
    cluster: int
    timeline: int
    is_standby: bool
    is_named: bool = True
    """Whether it knows the name of its server: a database that was never prepared does not."""


async def ask_addresses(
    dsns: Iterable[str],
    server: str | None,
    is_enough: Callable[[Answer], bool],
    patience_s: float = PATIENCE_S,
) -> list[Answer]:
    """The answers of all addresses; whoever is slow is not waited for once one answer is enough, or time is over.

    `server` is the name that they must have; None for the directory, which has none.
    """
    waiting = {asyncio.create_task(_ask(dsn, server)) for dsn in dsns}
    answers: list[Answer] = []
    loop = asyncio.get_running_loop()
    ends_at, limit_s = loop.time() + patience_s, ASK_TIMEOUT_S
    try:
        while waiting and not any(is_enough(answer) for answer in answers):
            done, waiting = await asyncio.wait(waiting, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                break
            answers += [answer for task in done if (answer := task.result()) is not None]
            limit_s = max(0.0, ends_at - loop.time())
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    return answers


async def _ask(dsn: str, server: str | None) -> Answer | None:
    label = "the directory" if server is None else f"server {server}"
    try:
        async with asyncio.timeout(ASK_TIMEOUT_S):
            conn = await open_connection(dsn, label, timeout_s=ASK_TIMEOUT_S, target=ANY_HOST)
            try:
                row = await _read(conn, _ASK_ANY if server is None else _ASK_SERVER)
            finally:
                conn.terminate()
    except (OSError, TimeoutError, ServerUnavailable, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        log.info("address.silent: one of %s: %r", label, error)
        return None
    if row["name"] not in (server, None):
        log.warning("address.wrong: one of %s leads to server %s", label, row["name"])
        return None
    timeline = row["recorded"] if row["is_standby"] else row["timeline"]
    is_named = server is None or row["name"] is not None
    return Answer(dsn, row["cluster"], timeline or 0, row["is_standby"], is_named)


async def _read(conn: asyncpg.Connection, question: str) -> Any:
    try:
        return cast("Any", (await fetch_rows(conn, question))[0])
    except asyncpg.UndefinedTableError:
        return cast("Any", (await fetch_rows(conn, _ASK_ANY))[0])
