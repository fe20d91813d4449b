"""The version of the library's own SQL, which three levels have: the directory, each server, each shard.

The version of a level is what the function `library_version()` of its schema returns. It is replaced in the transaction
that changes the rest of the level's SQL, is dumped, moved and restored with it, and costs nothing when ids are drawn.
Release 0.1.0 recorded nothing: that is version 1. `shardwright upgrade` brings older levels forward.
"""

from typing import TYPE_CHECKING, Final

from shardwright.errors import SetupInvalid
from shardwright.topology.connections import fetch_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asyncpg import Connection

LIBRARY_VERSION: Final = 2
"""The version that this release creates. Raise it with every change of the SQL after a release: a test compares both.

Routers and shards of neighbouring versions work side by side, and a server is brought forward before its shards. So a
function that older shards or routers call keeps its name, arguments and meaning; one that means something else gets
another name. What CREATE OR REPLACE cannot do is a step in `shardwright.migrations.upgrade.steps`.
"""
FIRST_VERSION: Final = 1
LIBRARY_SCHEMA: Final = "shardwright"

_READ = """\
SELECT n.nspname AS schema, coalesce(substring(p.prosrc FROM '[0-9]+')::integer, $2) AS version
FROM pg_catalog.pg_namespace n
LEFT JOIN pg_catalog.pg_proc p ON p.pronamespace = n.oid AND p.proname = 'library_version' AND p.pronargs = 0
WHERE n.nspname = ANY ($1::text[])
"""


def version_sql(schema: str, version: int = LIBRARY_VERSION) -> str:
    """The statement that records the version of a schema, for use in the transaction that changes its SQL."""
    return (
        f"CREATE OR REPLACE FUNCTION {schema}.library_version() RETURNS integer\n"
        f"LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT {version}';\n"
    )


async def read_library_versions(conn: "Connection", schemas: "Sequence[str]") -> dict[str, int]:
    """The version of each schema that exists."""
    rows = await fetch_rows(conn, _READ, list(schemas), FIRST_VERSION)
    return {row["schema"]: row["version"] for row in rows}


def refuse_newer(where: str, version: int, known: int = LIBRARY_VERSION) -> None:
    """Raise when something was brought to a version that this release does not know: it would be set back."""
    if version > known:
        raise SetupInvalid(
            f"{where} has version {version} of shardwright's own SQL, and this release of shardwright knows versions "
            f"up to {known}: upgrade the package (pip install --upgrade shardwright)"
        )


def refuse_older(where: str, version: int) -> None:
    """Raise when something lacks SQL that this release relies on."""
    if version < LIBRARY_VERSION:
        raise SetupInvalid(
            f"{where} has version {version} of shardwright's own SQL, and new shards need {LIBRARY_VERSION}: "
            "run `shardwright upgrade` first, then this again"
        )
