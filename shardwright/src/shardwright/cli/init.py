"""`shardwright init`: sets up the directory, servers and shards."""

from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from shardwright.cli.output import print_json, print_message
from shardwright.cli.runner import open_directory, run
from shardwright.cli.settings import (
    DirectoryOption,
    JsonOption,
    MigrationsOption,
    find_migrations,
    get_directory,
    read_named,
)
from shardwright.ids import Layout
from shardwright.migrations import Migrator
from shardwright.topology import Directory, ShardMap

DEFAULT_SHARDS = 64


def init(  # noqa: PLR0917 - typer calls it by keyword
    context: typer.Context,
    directory: DirectoryOption = None,
    server: Annotated[
        list[str] | None,
        typer.Option("--server", "-s", metavar="NAME=DSN", help="A server for shards; repeat it for each."),
    ] = None,
    shards: Annotated[
        int | None,
        typer.Option(min=1, max=8192, help=f"Total number of shards; initially {DEFAULT_SHARDS}."),
    ] = None,
    epoch: Annotated[
        datetime | None,
        typer.Option(help="Start of the ids' clock; fixed by the first call.", formats=["%Y-%m-%d"]),
    ] = None,
    migrations: MigrationsOption = None,
    is_json: JsonOption = False,
) -> None:
    """Set up the directory, its servers and their shards.

    Safe to repeat: with more servers or shards it adds the missing ones, and after a crash it continues where it
    stopped. If there is a migrations folder, new shards get all migrations before any router sees them.

        shardwright init -s a=postgresql://db1/app -s b=postgresql://db2/app --shards 256
    """
    servers = read_named(server or [])
    get_directory(context, directory)
    layout = None if epoch is None else Layout(int(epoch.replace(tzinfo=UTC).timestamp() * 1000))

    async def work() -> ShardMap:
        async with open_directory(context, directory) as found:
            shard_map = await found.create(layout=layout)
            for name, dsn in servers.items():
                shard_map = await found.add_server(name, dsn)
            if not shard_map.servers:
                raise typer.BadParameter("no server yet: give at least one --server NAME=postgresql://…")
            return await _add_shards(context, found, shard_map, shards, migrations)

    shard_map = run(work())
    if is_json:
        print_json(
            {
                "map_version": shard_map.version,
                "shards": len(shard_map.owners),
                "servers": [*shard_map.servers],
            }
        )
    else:
        print_message(
            f"{len(shard_map.owners)} shards on {len(shard_map.servers)} servers, map version {shard_map.version}."
        )


async def _add_shards(
    context: typer.Context,
    directory: Directory,
    shard_map: ShardMap,
    shards: int | None,
    migrations: MigrationsOption,
) -> ShardMap:
    wanted = shards or len(shard_map.owners) or DEFAULT_SHARDS
    folder = find_migrations(context, migrations)
    prepare = None if folder is None else Migrator(directory, folder).prepare
    with Progress(console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("shards", total=None)
        return await directory.ensure_shards(
            wanted,
            prepare=prepare,
            progress=lambda done, total: bars.update(task, completed=done, total=total),
        )
