"""`tintype accounts`: list accounts, set roles, verify, suspend and restore."""

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
from tintype.cli.running_stack import running_settings
from tintype.wiring import Rooms, open_rooms

accounts_app = typer.Typer(
    help="Manage accounts: list, set roles, verify, suspend, restore.", no_args_is_help=True
)
Username = Annotated[str, typer.Argument(help="The account's username.")]


class RoleName(StrEnum):
    """Role of an account."""

    PERSON = "person"
    MODERATOR = "moderator"
    OPERATOR = "operator"


@accounts_app.command("list")
def list_accounts(
    *,
    role: Annotated[RoleName | None, typer.Option(help="Only accounts with this role.")] = None,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=10_000)] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """List the newest accounts."""

    async def list_newest(rooms: Rooms) -> list[Account]:
        return await rooms.accounts.list_newest(role=role.value if role else None, limit=limit)

    found = _run(list_newest)
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
    """Set an account's role: person, moderator or operator."""

    async def change(rooms: Rooms, account: Account) -> None:
        await rooms.accounts.set_role(account.id, role.value)

    _change(username, change)
    print(f"{username}: {role.value}")


@accounts_app.command("verify")
def verify(
    username: Username,
    *,
    undo: Annotated[bool, typer.Option("--undo", help="Remove the verification.")] = False,
) -> None:
    """Mark an account as verified. From then on, usernames that look like it are refused."""

    async def change(rooms: Rooms, account: Account) -> None:
        await rooms.accounts.verify(account.id, is_verified=not undo)

    _change(username, change)
    print(f"{username}: {'not verified' if undo else 'verified'}")


@accounts_app.command("suspend")
def suspend(username: Username) -> None:
    """Suspend an account and end all of its sessions immediately."""
    _set_status(username, "suspended")


@accounts_app.command("restore")
def restore(username: Username) -> None:
    """Reactivate a suspended or deactivated account."""
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
