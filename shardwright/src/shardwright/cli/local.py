"""`shardwright local`: local PostgreSQL servers, to try things out without installing a database."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import asyncpg
import typer

from shardwright.cli.connection import open_connection
from shardwright.cli.help_text import format_help
from shardwright.cli.output import print_message
from shardwright.cli.runner import fail, run
from shardwright.cli.settings import DIRECTORY_VARIABLE
from shardwright.errors import ShardwrightError
from shardwright.local import LocalServer

app = typer.Typer(no_args_is_help=True, help="Local PostgreSQL servers, to try things out.")

_DIRECTORY_DATABASE = "directory"
_SHARDS_DATABASE = "shards"
_MAX_SERVERS = 26

FolderArgument = Annotated[Path, typer.Argument(metavar="DIR", help="Folder for the servers' data.")]


def start(
    folder: FolderArgument,
    servers: Annotated[int, typer.Option(min=1, max=_MAX_SERVERS, help="How many servers: a, b, c …")] = 2,
) -> None:
    """Start servers named a, b, … and print their addresses as shell variables; they run until `local stop`.

    Needs `pip install 'shardwright[local]'` or PostgreSQL's programs on the PATH.

        eval "$(shardwright local start ./demo)"
        shardwright init -s a="$SHARDWRIGHT_SERVER_A" -s b="$SHARDWRIGHT_SERVER_B" --shards 16
    """
    running = [LocalServer(folder / name) for name in "abcdefghijklmnopqrstuvwxyz"[:servers]]
    try:
        for server in running:
            server.start()
    except ShardwrightError as error:
        fail(error)
    run(_create_databases(running))
    typer.echo(f"export {DIRECTORY_VARIABLE}={shlex.quote(running[0].dsn(_DIRECTORY_DATABASE))}")
    for server in running:
        name = server.directory.name.upper()
        typer.echo(f"export SHARDWRIGHT_SERVER_{name}={shlex.quote(server.dsn(_SHARDS_DATABASE))}")
    print_message(
        f"{servers} servers are running in {folder}. Stop them with: shardwright local stop {folder}"
    )


def stop(folder: FolderArgument) -> None:
    """Stop the servers of a folder; their data stays, and `local start` finds it again."""
    found = [LocalServer(each.parent) for each in sorted(folder.glob("?/port"))]
    if not found:
        raise typer.BadParameter(f"there are no servers in {folder}")
    for server in found:
        server.stop()
    print_message(f"{len(found)} servers stopped.")


async def _create_databases(servers: list[LocalServer]) -> None:
    for position, server in enumerate(servers):
        async with open_connection(server.dsn(), name=server.directory.name) as connection:
            await _create_database(connection, _SHARDS_DATABASE)
            if position == 0:
                await _create_database(connection, _DIRECTORY_DATABASE)


async def _create_database(connection: Any, name: str) -> None:
    try:
        await connection.execute(f"CREATE DATABASE {name}")
    except asyncpg.DuplicateDatabaseError:
        return  # created by an earlier start


app.command("start", help=format_help(start))(start)
app.command("stop", help=format_help(stop))(stop)
