"""`tintype shards …`: shardwright's own command line, configured with our directory, servers and migrations."""

import typer

from shardwright.cli import Settings as ShardSettings
from shardwright.cli import call_commands, named_app
from shardwright.errors import SetupInvalid
from shardwright.topology import Server, locate_primary
from tintype.base.errors import SettingsInvalid
from tintype.base.router_addresses import router_dsns
from tintype.base.settings import as_migrator, as_superuser, directory_dsn, server_dsns
from tintype.cli.running_stack import running_settings
from tintype.schema import MIGRATIONS, without_password

_HOW_TO_ADD = (
    "add it at the end of `postgres`, `postgres_migrator` and `postgres_admin`, which this command reads and running "
    "processes need not; for one more embedded server raise `postgres_servers`, and restart"
)
_HOW_TO_REMOVE = (
    'Put "" in its place in `postgres`, `postgres_migrator` and `postgres_admin`, or leave it out if it is the last.'
    " The folder of an embedded server can be deleted while Tintype is stopped."
)
_NAME = "tintype shards"
_ABOUT = """Manage shards: status, migrations, drift, moves between servers, replicas, SQL.

    tintype shards status
    tintype shards move s0042 s0043 --to pg2
    tintype shards rebalance --dry-run

Servers and passwords are those of this installation's settings. Exit codes: 0 success, 1 failure or findings, 2 wrong
arguments.
"""

shards_app = named_app(_NAME, _ABOUT)


def pass_settings(context: typer.Context) -> None:
    """Configure the commands with the settings of this installation."""
    call_commands(_NAME)
    try:
        runtime = running_settings()
        settings = as_migrator(runtime)
    except SettingsInvalid:
        # Commands such as `ids decode` and `lint` need no directory; the others say what is missing.
        context.obj = ShardSettings(migrations=MIGRATIONS)
    else:
        addresses = {name: without_password(dsn) for name, dsn in server_dsns(runtime).items()}
        context.obj = ShardSettings(
            directory_dsn(settings),
            router_dsns(settings),
            MIGRATIONS,
            superusers=router_dsns(as_superuser(runtime)),
            addresses=addresses,
            how_to_add=_HOW_TO_ADD,
            check_removal=_check_relayed,
            how_to_remove=_HOW_TO_REMOVE,
        )


async def _check_relayed(server: Server) -> None:
    """Refuse to remove a server whose outbox has events that no worker has relayed yet: they would be lost."""
    from tintype.worker import count_waiting_events  # noqa: PLC0415 - the worker's modules, which no other command needs

    waiting = await count_waiting_events((await locate_primary(server)).dsn)
    if waiting:
        raise SetupInvalid(
            f"server {server.name} cannot be removed: {waiting} events in its outbox wait to be relayed; try again "
            "in a moment, while a worker runs (`tintype status`)"
        )


__all__ = ["pass_settings", "shards_app"]
