"""`tintype accounts`: list and show accounts, set roles and quotas, verify, suspend and restore."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Annotated, Any, TypeVar

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from tintype.accounts import Account, Status
from tintype.cli.running_stack import running_settings
from tintype.cli.sizes import format_size, parse_quota
from tintype.media import Usage
from tintype.wiring import Rooms, open_rooms

accounts_app = typer.Typer(
    help="Manage accounts: list, show, set roles and quotas, verify, suspend, restore.", no_args_is_help=True
)
T = TypeVar("T")
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

    async def list_newest(rooms: Rooms) -> list[tuple[Account, Usage]]:
        found = await rooms.accounts.list_newest(role=role.value if role else None, limit=limit)
        usage = await rooms.media.usage.list_of([each.id for each in found])
        return [(each, usage[each.id]) for each in found]

    found = _run(list_newest)
    if as_json:
        print(json.dumps([_as_json(account, usage) for account, usage in found]))
        return
    table = Table("username", "id", "role", "status", "verified", "posts", "followers", "storage")
    for each, usage in found:
        counts = (str(each.post_count), str(each.follower_count), format_size(usage.used_bytes))
        verified = "yes" if each.is_verified else ""
        table.add_row(each.username, str(each.id), each.role, each.status, verified, *counts)
    Console().print(table if found else "No accounts.")


@accounts_app.command("show")
def show(
    username: Username,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Show one account, and what it stores."""

    async def find(rooms: Rooms) -> tuple[Account, Usage]:
        account = await rooms.accounts.get_by_name(username)
        return account, await rooms.media.usage.get(account.id)

    account, usage = _run(find)
    if as_json:
        print(json.dumps(_as_json(account, usage)))
        return
    table = Table(show_header=False)
    for name in ("username", "id", "full_name", "role", "status", "post_count", "follower_count"):
        table.add_row(name.replace("_", " "), str(getattr(account, name)))
    table.add_row("verified", "yes" if account.is_verified else "no")
    table.add_row("private", "yes" if account.is_private else "no")
    table.add_row("storage", _in_words(usage))
    Console().print(table)


@accounts_app.command("quota")
def set_quota(
    username: Username,
    quota: Annotated[
        str, typer.Argument(help="Such as 500M, 5G or 1.5T; none; or default, that of the settings.")
    ],
) -> None:
    """Set how much an account may store."""
    try:
        quota_bytes = parse_quota(quota)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="quota") from error

    async def change(rooms: Rooms) -> Usage:
        account = await rooms.accounts.get_by_name(username)
        return await rooms.media.usage.set_quota(account.id, quota_bytes)

    print(f"{username}: {_in_words(_run(change))}")


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
    """Suspend an account and end all of its sessions immediately. Its owner can still log in to appeal."""

    async def change(rooms: Rooms, account: Account) -> Status:
        await rooms.accounts.suspend(account.id)
        await rooms.moderation.record_suspension(account.id, is_suspended=True)
        return "suspended"

    print(f"{username}: {_change(username, change)}")


@accounts_app.command("restore")
def restore(username: Username) -> None:
    """Lift an account's suspension; reactivate one that is deactivated or waits for its deletion.

    A suspended account returns to what its owner chose, which may be deactivated or leaving.
    """

    async def change(rooms: Rooms, account: Account) -> Status:
        status = await rooms.accounts.restore(account.id)
        await rooms.moderation.record_suspension(account.id, is_suspended=False)
        return status

    print(f"{username}: {_change(username, change)}")


def _change(username: str, change: Callable[[Rooms, Account], Awaitable[T]]) -> T:
    async def act(rooms: Rooms) -> T:
        return await change(rooms, await rooms.accounts.get_by_name(username))

    return _run(act)


def _as_json(account: Account, usage: Usage) -> dict[str, Any]:
    storage = {"storage_bytes": usage.used_bytes, "quota_bytes": usage.quota_bytes}
    return {**msgspec.to_builtins(account), "id": str(account.id), **storage}


def _in_words(usage: Usage) -> str:
    allowed = "no quota" if usage.quota_bytes is None else f"of {format_size(usage.quota_bytes)}"
    reserved = f", {format_size(usage.reserved_bytes)} being uploaded" if usage.reserved_bytes else ""
    return f"{format_size(usage.used_bytes)} used, {allowed}{reserved}".replace("used, of", "of")


def _run(act: Callable[[Rooms], Awaitable[T]]) -> T:
    async def within() -> T:
        async with open_rooms(running_settings(), process="cli") as rooms:
            return await act(rooms)

    return asyncio.run(within())
