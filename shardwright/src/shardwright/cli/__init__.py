"""The `shardwright` command; also a typer app that another command line can mount as its own sub-command.

A host mounts it with a callback that supplies the directory:

    from shardwright.cli import Settings, app as shards

    def choose(context: typer.Context) -> None:
        context.obj = Settings(directory=dsn_from_my_configuration())

    host.add_typer(shards, name="shards", callback=choose)
"""

from shardwright.cli.app import app, main
from shardwright.cli.settings import Settings

__all__ = ["Settings", "app", "main"]
