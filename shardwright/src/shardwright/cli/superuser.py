"""What commands have in common that sign in to servers as a superuser: the directory, and addresses of servers."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

import typer

from shardwright.cli.quantities import read_size
from shardwright.cli.settings import DirectoryOption, get_directory, host_settings, read_named
from shardwright.moves import MoveOptions, Mover, OnProgress, OnStep
from shardwright.topology import Directory

ServerOption = Annotated[
    list[str] | None,
    typer.Option(
        "--server",
        "-s",
        metavar="NAME=DSN",
        help="The address of a superuser on this server, where the map's is of another role; repeat it.",
    ),
]
LinkOption = Annotated[
    list[str] | None,
    typer.Option(
        "--link",
        metavar="NAME=DSN",
        help="The address by which other servers reach this one, where it differs from the map's.",
    ),
]
RateOption = Annotated[
    str | None,
    typer.Option(
        "--rate", metavar="SIZE", help="Copy no more than this a second on average, shard after shard: 50MB."
    ),
]
LagOption = Annotated[
    str | None,
    typer.Option(
        "--replica-lag",
        metavar="SIZE",
        help="Copy no further shard while a streaming replica of either server lags more than this.",
    ),
]
RoomOption = Annotated[
    list[str] | None,
    typer.Option(
        "--room",
        metavar="NAME=SIZE",
        help="How much room a server's disk has. It is measured where the server runs on this machine.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Access:
    """The directory and the addresses that a command was given."""

    context: typer.Context
    directory: DirectoryOption = None
    servers: ServerOption = None
    links: LinkOption = None

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Directory]:
        """The directory, open for the duration of the block; its servers are signed in to as a superuser."""
        settings = host_settings(self.context)
        dsns = {**settings.dsns, **settings.superusers, **read_named(self.servers or [])}
        directory = await Directory.open(get_directory(self.context, self.directory), dsns=dsns)
        try:
            yield directory
        finally:
            await directory.close()

    def mover(
        self,
        directory: Directory,
        options: MoveOptions | None = None,
        progress: OnProgress | None = None,
        on_step: OnStep | None = None,
    ) -> Mover:
        """Moves of the open directory."""
        return Mover(
            directory,
            addresses=read_named(self.links or []),
            options=options or MoveOptions(),
            progress=progress,
            on_step=on_step,
        )


@dataclass(frozen=True, kw_only=True)
class CopyAccess(Access):
    """The same for a command that copies shards."""

    rate: RateOption = None
    replica_lag: LagOption = None
    room: RoomOption = None

    def options(self) -> MoveOptions:
        """The options of moves that the command was given."""
        return MoveOptions(
            copy_bytes_per_s=read_size(self.rate) if self.rate else 0,
            max_replica_lag_bytes=read_size(self.replica_lag) if self.replica_lag else 0,
            room_bytes={name: read_size(size) for name, size in read_named(self.room or []).items()},
        )
