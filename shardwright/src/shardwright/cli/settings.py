"""Settings of commands, from options, the environment, or the host application."""

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from shardwright.command_names import as_called
from shardwright.topology import Server

DIRECTORY_VARIABLE = "SHARDWRIGHT_DIRECTORY"
MIGRATIONS_VARIABLE = "SHARDWRIGHT_MIGRATIONS"
DEFAULT_MIGRATIONS = Path("migrations")


@dataclass(frozen=True)
class Settings:
    """Settings supplied by a host application; put it into `context.obj` before a command runs."""

    directory: str | None = None
    # Overrides of the map's server addresses, by name: passwords can stay out of the directory.
    dsns: dict[str, str] = field(default_factory=dict[str, str])
    migrations: Path | None = None
    # Like `dsns`, for commands that need a superuser, such as moves.
    superusers: dict[str, str] = field(default_factory=dict[str, str])
    # The addresses that the map keeps, by name, where the host's own settings say which servers there are.
    addresses: dict[str, str] = field(default_factory=dict[str, str])
    how_to_add: str = "name it there first"
    # Raises while the host still needs what is on this server, beside shards.
    check_removal: Callable[[Server], Awaitable[None]] | None = None
    how_to_remove: str = ""


DirectoryOption = Annotated[
    str | None,
    typer.Option(
        "--directory",
        "-d",
        metavar="DSN",
        help=f"The directory database, postgresql://…; or set {DIRECTORY_VARIABLE}.",
    ),
]
MigrationsOption = Annotated[
    Path | None,
    typer.Option(
        "--migrations",
        "-m",
        metavar="FOLDER",
        help=f"The folder that holds shard/ and server/, by default ./migrations; or set {MIGRATIONS_VARIABLE}.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def host_settings(context: typer.Context) -> Settings:
    """Return the host application's settings, or empty ones."""
    return context.find_object(Settings) or Settings()


def find_directory(context: typer.Context, option: str | None) -> str | None:
    """Return the directory's address, or None when it is not configured."""
    return option or host_settings(context).directory or os.environ.get(DIRECTORY_VARIABLE) or None


def get_directory(context: typer.Context, option: str | None) -> str:
    """Return the directory's address, or exit with a usage error that says how to give it."""
    found = find_directory(context, option)
    if found is None:
        raise typer.BadParameter(
            as_called(
                f"no directory: give --directory postgresql://… or set {DIRECTORY_VARIABLE} "
                "(`shardwright local start` prints one to try things out)"
            )
        )
    return found


def find_migrations(context: typer.Context, option: Path | None) -> Path | None:
    """Return the migrations folder: the configured one, or ./migrations if it exists, or None."""
    named = os.environ.get(MIGRATIONS_VARIABLE)
    found = option or host_settings(context).migrations or (Path(named) if named else None)
    if found is not None:
        return found
    return DEFAULT_MIGRATIONS if DEFAULT_MIGRATIONS.is_dir() else None


def get_migrations(context: typer.Context, option: Path | None) -> Path:
    """Return the migrations folder, or exit with a usage error that says how to give it."""
    found = find_migrations(context, option)
    if found is None:
        raise typer.BadParameter(
            f"no migrations here: give --migrations FOLDER, or create {DEFAULT_MIGRATIONS}/shard/0001_….sql"
        )
    return found


def read_named(values: list[str]) -> dict[str, str]:
    """Parse NAME=VALUE options into a dictionary, in the order given."""
    found: dict[str, str] = {}
    for value in values:
        name, separator, rest = value.partition("=")
        if not separator or not name or not rest:
            raise typer.BadParameter(f"{value!r} is not NAME=ADDRESS, such as a=postgresql://…")
        if name in found:
            raise typer.BadParameter(f"two servers are named {name!r}")
        found[name] = rest
    return found
