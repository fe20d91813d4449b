"""`tintype shards …`: shardwright's own command line, configured with our directory, servers and migrations."""

import typer

from shardwright.cli import Settings as ShardSettings
from shardwright.cli import app as shards_app
from tintype.base.errors import SettingsInvalid
from tintype.base.settings import as_migrator, directory_dsn, server_dsns
from tintype.cli.running_stack import running_settings
from tintype.schema import MIGRATIONS


def pass_settings(context: typer.Context) -> None:
    """Manage shards: status, migrations, drift, SQL on one shard or all. Start with `tintype shards status`."""
    try:
        settings = as_migrator(running_settings())
    except SettingsInvalid:
        # Commands such as `ids decode` and `lint` need no directory; the others say what is missing.
        context.obj = ShardSettings(migrations=MIGRATIONS)
    else:
        context.obj = ShardSettings(directory_dsn(settings), server_dsns(settings), MIGRATIONS)


__all__ = ["pass_settings", "shards_app"]
