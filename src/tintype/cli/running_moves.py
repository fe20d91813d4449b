"""The moves of shards of this installation that have not ended, of existing servers or of the running embedded ones."""

from asyncpg import PostgresError

from shardwright.errors import ShardwrightError
from tintype.base.settings import Loaded, as_migrator, directory_dsn
from tintype.cli.running_servers import with_running_servers
from tintype.stack import MoveStatus, read_move_status


async def find_moves(loaded: Loaded) -> list[MoveStatus]:
    """Return what is being moved or kept; nothing where the directory does not answer or has no tables yet."""
    settings = with_running_servers(loaded)
    if settings is None:
        return []
    try:
        return await read_move_status(directory_dsn(as_migrator(settings)))
    except (ShardwrightError, PostgresError, OSError):
        return []  # that it does not answer is said of the server itself
