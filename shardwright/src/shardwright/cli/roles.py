"""`shardwright roles`: creates the roles of an installation and gives its databases to them."""

import os
import secrets
from typing import Annotated
from urllib.parse import quote, urlsplit, urlunsplit

import typer

from shardwright.cli.output import print_json, print_message
from shardwright.cli.runner import run
from shardwright.cli.settings import JsonOption, read_named
from shardwright.errors import SetupInvalid
from shardwright.topology import RoleSet, RolesReport, ensure_roles, missing_roles

_VARIABLES = {
    "migrator": "SHARDWRIGHT_MIGRATOR_PASSWORD",
    "runtime": "SHARDWRIGHT_RUNTIME_PASSWORD",
    "reader": "SHARDWRIGHT_READER_PASSWORD",
}


def roles(
    server: Annotated[
        list[str],
        typer.Option(
            "--server",
            "-s",
            metavar="NAME=DSN",
            help="A database, as a role that may create roles and owns it; repeat it for each, also for the directory.",
        ),
    ],
    prefix: Annotated[str, typer.Option(help="What the names of the roles begin with.")] = "shardwright",
    is_json: JsonOption = False,
) -> None:
    """Create the roles that an installation needs, and give its databases to them.

    PREFIX_owner owns everything and cannot sign in. PREFIX_migrator signs in and becomes the owner: for `init`,
    `upgrade`, `migrate` and `install`. PREFIX_runtime is the application: rows, ids and functions, no DDL.
    PREFIX_reader reads.

    Passwords come from SHARDWRIGHT_MIGRATOR_PASSWORD, SHARDWRIGHT_RUNTIME_PASSWORD and SHARDWRIGHT_READER_PASSWORD;
    a new role without one gets a generated password, which is printed once, in its addresses. Roles that exist keep
    theirs. Safe to repeat; an installation that one role owned so far is brought forward, schema by schema.

        shardwright roles --prefix app -s a=postgresql://postgres@db1/app -s b=postgresql://postgres@db2/app
    """
    databases = read_named(server)
    names = RoleSet(prefix)

    async def work() -> tuple[dict[str, str], dict[str, RolesReport]]:
        passwords = await choose_passwords(names, databases)
        return passwords, {name: await ensure_roles(dsn, names, passwords) for name, dsn in databases.items()}

    passwords, reports = run(work())
    addresses = {
        role: [_address(dsn, role, passwords[role]) for dsn in databases.values()]
        for role in names.logins
        if role in passwords
    }
    if is_json:
        print_json({"addresses": addresses, "servers": {name: vars(each) for name, each in reports.items()}})
        return
    for name, report in reports.items():
        print_message(
            f"{name}: {len(report.created)} roles created, {len(report.adopted)} schemas given to {names.owner}."
        )
    for role, dsns in addresses.items():
        print_message("\n".join([f"{role} signs in with:", *(f"  {dsn}" for dsn in dsns)]))


async def choose_passwords(names: RoleSet, databases: dict[str, str]) -> dict[str, str]:
    """The passwords to set: those of the environment, and generated ones for roles that no server has."""
    logins = {"migrator": names.migrator, "runtime": names.runtime, "reader": names.reader}
    chosen = {
        role: os.environ[_VARIABLES[kind]]
        for kind, role in logins.items()
        if os.environ.get(_VARIABLES[kind])
    }
    missing = {name: await missing_roles(dsn, names) for name, dsn in databases.items()}
    for kind, role in logins.items():
        lacking = [name for name, roles in missing.items() if role in roles]
        if role in chosen or not lacking:
            continue
        if len(lacking) < len(databases):
            raise SetupInvalid(
                f"some servers have the role {role} and {lacking[0]} has not: give its password in {_VARIABLES[kind]}"
            )
        chosen[role] = secrets.token_urlsafe(24)
    return chosen


def _address(dsn: str, role: str, password: str) -> str:
    """The same database, as another role."""
    parts = urlsplit(dsn)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{role}:{quote(password, safe='')}@{host}"))
