"""`./tintype schema`: regenerates `schema.sql` from the migrations, on a temporary server."""

import asyncio
import tempfile
from pathlib import Path

from shardwright.migrations import snapshot
from tintype.schema import MIGRATIONS, SCHEMA_FILE
from tintype.stack import Stack


def schema() -> None:
    """Replay all migrations on a fresh PostgreSQL and write what they make to schema.sql."""
    asyncio.run(_write())


async def _write() -> None:
    with tempfile.TemporaryDirectory(prefix="tintype-schema-") as folder:
        Path(folder).chmod(0o711)  # noqa: ASYNC240 - one call; the account that runs the server for root must traverse it
        async with Stack(
            Path(folder) / "home", postgres_servers=1, engines_only=True, durable=False
        ) as stack:
            SCHEMA_FILE.write_text(await snapshot(MIGRATIONS, stack.connections.postgres[0]))


if __name__ == "__main__":
    schema()
