"""The `shardwright` command; also a typer app that another command line can mount as its own sub-command.

A host mounts it with a callback that supplies the directory. Help, errors and advice then name commands as the host has
them:

    from shardwright.cli import Settings, call_commands, named_app

    def choose(context: typer.Context) -> None:
        call_commands("host shards")
        context.obj = Settings(directory=dsn_from_my_configuration())

    host.add_typer(named_app("host shards", "Manage shards."), name="shards", callback=choose)
"""

from shardwright.cli.app import app, main, named_app
from shardwright.cli.settings import Settings
from shardwright.command_names import call_commands

__all__ = ["Settings", "app", "call_commands", "main", "named_app"]
