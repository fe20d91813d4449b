"""Copies dispatch functions to the server that a shard moves to, so that no router waits for them there.

A role without DDL could not install them itself.
"""

from typing import TYPE_CHECKING

from shardwright.ids import schema_name
from shardwright.routing.function_installer import FINGERPRINT, LOCK, RECORD, TABLE
from shardwright.topology import fetch_rows, fetch_value

if TYPE_CHECKING:
    from asyncpg import Connection

_HAS_TABLE = "SELECT to_regclass('shardwright.dispatch_functions') IS NOT NULL"
_OWNER = (
    "SELECT quote_ident(nspowner::regrole::text) FROM pg_catalog.pg_namespace WHERE nspname = 'shardwright'"
)
_READ = """\
SELECT d.key, d.function, d.returns_rows, d.pieces, pg_get_functiondef(p.oid) AS definition
FROM shardwright.dispatch_functions d
JOIN pg_catalog.pg_proc p ON p.proname = d.function AND p.pronamespace = 'shardwright'::regnamespace
WHERE d.fingerprint = $1
"""
_KNOWN = "SELECT key FROM shardwright.dispatch_functions WHERE fingerprint = $1"


async def copy_functions(source: "Connection", target: "Connection", sample: int) -> int:
    """Create at the target the functions that serve the sample shard at the source; returns how many were missing.

    Both servers have the shard, with equal columns.
    """
    if not await fetch_value(source, _HAS_TABLE):
        return 0
    found = await fetch_rows(source, _READ, await fetch_value(source, FINGERPRINT, schema_name(sample)))
    async with target.transaction():
        await target.execute(f"SET LOCAL ROLE {await fetch_value(target, _OWNER)}")
        await target.execute(LOCK)
        await target.execute(TABLE)
        fingerprint = await fetch_value(target, FINGERPRINT, schema_name(sample))
        known = {row["key"] for row in await fetch_rows(target, _KNOWN, fingerprint)}
        missing = [row for row in found if row["key"] not in known]
        for row in missing:
            await target.execute(row["definition"])
            await target.execute(
                RECORD, row["key"], fingerprint, row["function"], row["returns_rows"], row["pieces"]
            )
    return len(missing)
