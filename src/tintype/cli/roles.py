"""`tintype roles`: creates the PostgreSQL roles that the application and its migrations sign in with."""

import asyncio
import json
import secrets
from typing import Annotated

import typer

from tintype.cli.running_stack import databases_settings
from tintype.schema import ensure_database_roles


def roles(
    *,
    reader: Annotated[
        bool, typer.Option("--reader", help="Give the read-only role a new password and print its addresses.")
    ] = False,
) -> None:
    """Create the PostgreSQL roles of this installation and hand its databases over to them.

    NAMESPACE_owner owns all tables and cannot sign in; NAMESPACE_migrator changes them, for `tintype migrate`;
    NAMESPACE_runtime reads and writes rows, for everything else; NAMESPACE_reader reads. Signs in with the addresses of
    `postgres_admin`, by default those of `postgres`. Safe to repeat. Embedded servers need no such call: `tintype up`
    does the same.
    """
    settings = databases_settings()
    password = secrets.token_urlsafe(24) if reader else ""
    done = asyncio.run(ensure_database_roles(settings, reader_password=password))
    typer.echo(f"# {done.adopted} schemas were handed over to the role {settings.namespace}_owner.")
    known = {"postgres": "runtime", "postgres_migrator": "migrator", "# read-only": "reader"}
    for setting, kind in known.items():
        dsns = done.addresses.get(f"{settings.namespace}_{kind}")
        if dsns:
            typer.echo(f"{setting} = {json.dumps(list(dsns))}")
