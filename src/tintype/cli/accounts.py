"""`tintype accounts`: who is here, and what an operator may do about it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from tintype.accounts import Account, Status
from tintype.cli.running import running_settings
from tintype.wiring import Rooms, open_rooms

accounts_app = typer.Typer(
    help="Accounts: list them, make moderators, verify and suspend.", no_args_is_help=True
)
Username = Annotated[str, typer.Argument(help="The account's username.")]


class RoleName(StrEnum):
    """What an account may do here."""

    PERSON = "person"
    MODERATOR = "moderator"
    OPERATOR = "operator"


@accounts_app.command("list")
def list_accounts(
    *,
    role: Annotated[RoleName | None, typer.Option(help="Only those with this role.")] = None,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=10_000)] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Show the newest accounts."""

    async def look(rooms: Rooms) -> list[Account]:
        return await rooms.accounts.standing.list_accounts(role=role.value if role else None, limit=limit)

    found = _run(look)
    if as_json:
        print(json.dumps([{**msgspec.to_builtins(each), "id": str(each.id)} for each in found]))
        return
    table = Table("username", "id", "role", "status", "verified", "posts", "followers")
    for each in found:
        counts = (str(each.post_count), str(each.follower_count))
        verified = "yes" if each.is_verified else ""
        table.add_row(each.username, str(each.id), each.role, each.status, verified, *counts)
    Console().print(table if found else "No accounts.")


@accounts_app.command("role")
def set_role(username: Username, role: RoleName) -> None:
    """Make somebody a moderator or an operator, or a person like any other again."""

    async def change(rooms: Rooms, account: Account) -> None:
        await rooms.accounts.standing.set_role(account.id, role.value)

    _change(username, change)
    print(f"{username}: {role.value}")


@accounts_app.command("verify")
def verify(
    username: Username,
    *,
    undo: Annotated[bool, typer.Option("--undo", help="Take it back.")] = False,
) -> None:
    """Vouch for who somebody is. Names that look like theirs are refused from then on."""

    async def change(rooms: Rooms, account: Account) -> None:
        await rooms.accounts.profiles.verify(account.id, is_verified=not undo)

    _change(username, change)
    print(f"{username}: {'not verified' if undo else 'verified'}")


@accounts_app.command("suspend")
def suspend(username: Username) -> None:
    """Take an account out of use and end all of its sessions, at once."""
    _set_status(username, "suspended")


@accounts_app.command("restore")
def restore(username: Username) -> None:
    """Take a suspended or deactivated account into use again."""
    _set_status(username, "active")


def _set_status(username: str, status: Status) -> None:
    async def change(rooms: Rooms, account: Account) -> None:
        await rooms.accounts.set_status(account.id, status)

    _change(username, change)
    print(f"{username}: {status}")


def _change(username: str, change: Callable[[Rooms, Account], Awaitable[None]]) -> None:
    async def act(rooms: Rooms) -> list[Account]:
        account = await rooms.accounts.get_by_name(username)
        await change(rooms, account)
        return [account]

    _run(act)


def _run(act: Callable[[Rooms], Awaitable[list[Account]]]) -> list[Account]:
    async def within() -> list[Account]:
        async with open_rooms(running_settings(), process="cli") as rooms:
            return await act(rooms)

    return asyncio.run(within())
