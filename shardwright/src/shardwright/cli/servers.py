"""`shardwright add-server`, `set-server` and `remove-server`: servers of the map."""

from typing import Annotated

import typer

from shardwright.cli.output import print_json, print_message
from shardwright.cli.runner import fail, open_directory, run
from shardwright.cli.settings import (
    DirectoryOption,
    JsonOption,
    MigrationsOption,
    find_migrations,
    get_directory,
    host_settings,
)
from shardwright.cli.superuser import Access
from shardwright.errors import SetupInvalid
from shardwright.rebalancing import NewServer
from shardwright.rebalancing import add_server as prepare_server
from shardwright.topology import ShardMap

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Its name in the map.")]
WeightOption = Annotated[
    float | None, typer.Option("--weight", min=0, help="Its share of shards, tenants and load; at first 1.")
]


def add_server(  # noqa: PLR0917 - typer calls it by keyword
    access: Access,
    name: NameArgument,
    dsn: Annotated[
        str | None,
        typer.Argument(
            metavar="DSN", help="The address that the map keeps, and routers use unless they have another."
        ),
    ] = None,
    weight: WeightOption = None,
    migrations: MigrationsOption = None,
    is_json: JsonOption = False,
) -> None:
    """Add a server that is ready for shards: with the SQL, extensions, server migrations and roles of the others.

    Signs in to it and to one of the others as a superuser (`--server`). Roles keep their passwords. Safe to repeat. It
    has no shards then: `shardwright rebalance` or `split` gives it some, and new ones are placed on it.

        shardwright add-server c postgresql://app@db3/app -s c=postgresql://postgres@db3/app
        shardwright rebalance --dry-run
    """
    settings = host_settings(access.context)
    address = dsn or settings.addresses.get(name)
    if settings.addresses and name not in settings.addresses:
        fail(SetupInvalid(f"the settings name no server {name}: {settings.how_to_add}"))
    if address is None:
        raise typer.BadParameter("give the address of the new server: postgresql://…")
    folder = find_migrations(access.context, migrations)

    async def work() -> NewServer:
        async with access.open() as found:
            return await prepare_server(found, name, address, migrations=folder, weight=weight)

    added = run(work())
    if is_json:
        print_json(
            {
                "server": name,
                "servers": [*added.shard_map.servers],
                "migrations": added.migrations,
                "roles": added.roles,
            }
        )
    else:
        print_message(
            f"Server {name} is ready for shards: {added.migrations} migrations applied, {len(added.roles)} roles "
            "created. Give it some with `shardwright rebalance`."
        )


def remove_server(
    access: Access,
    name: NameArgument,
    lost: Annotated[
        bool,
        typer.Option(
            "--lost", help="It is gone for good: do not ask it whether copies of shards are left on it."
        ),
    ] = False,
    is_json: JsonOption = False,
) -> None:
    """Remove a server that holds nothing any more from the map; routers close their connections to it.

    Refuses, and says what to do, while it owns shards, a move keeps old copies on it, it has replicas, or the directory
    is in its database. Signs in to it as a superuser. Its database stays as it is, and can be added again.

        shardwright drain a
        shardwright remove-server a
    """
    settings = host_settings(access.context)

    async def work() -> ShardMap:
        async with access.open() as found:
            server = (await found.load()).get_server(name)
            if settings.check_removal is not None and not lost:
                await settings.check_removal(server)
            return await found.remove_server(name, is_lost=lost)

    left = sorted(run(work()).servers)
    if is_json:
        print_json({"removed": name, "servers": left})
    else:
        print_message(
            f"Server {name} is removed; {', '.join(left)} remain. {settings.how_to_remove}".rstrip()
        )


def set_server(  # noqa: PLR0917 - typer calls it by keyword
    context: typer.Context,
    name: NameArgument,
    weight: WeightOption = None,
    accept: Annotated[
        bool | None, typer.Option("--accept/--no-accept", help="Whether it gets new shards and tenants.")
    ] = None,
    directory: DirectoryOption = None,
    is_json: JsonOption = False,
) -> None:
    """Change a server's weight, or whether new shards and tenants are placed on it.

    shardwright set-server a --weight 2
    shardwright set-server a --accept
    """
    get_directory(context, directory)

    async def work() -> ShardMap:
        async with open_directory(context, directory) as found:
            return await found.set_server(name, weight=weight, accepts_new=accept)

    server = run(work()).servers[name]
    if is_json:
        print_json({"server": name, "weight": server.weight, "accepts_new": server.accepts_new})
    else:
        takes = "takes new shards" if server.accepts_new else "takes no new shards"
        print_message(f"Server {name} has weight {server.weight:g} and {takes}.")
