"""`tintype backups`: lists the backups of a place, and reads one to its last byte to see whether it is whole."""

import asyncio
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tintype.backup import Backups, Manifest, open_place
from tintype.base.settings import Settings, load_settings
from tintype.cli.backup_place import (
    AsJson,
    PassphraseFile,
    choose_place,
    describe,
    progress_bars,
    read_passphrase,
)
from tintype.cli.sizes import format_size


def backups(
    *,
    place: Annotated[str, typer.Option("--from", help="A directory, or s3://bucket/prefix.")] = "",
    passphrase_file: PassphraseFile = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read every byte of one; exit code 1 when it is damaged.")
    ] = False,
    backup_id: Annotated[
        str, typer.Option("--backup", help="Which one to verify; default: the newest.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """List the backups, newest first, or verify one. Needs no running site."""
    settings = load_settings().settings
    where = choose_place(settings, place, "--from")
    passphrase = read_passphrase(settings, passphrase_file)
    if verify:
        checked = asyncio.run(_verify(settings, where, passphrase, backup_id))
        print(
            msgspec.json.encode(checked).decode() if as_json else f"Nothing is damaged. {describe(checked)}"
        )
        return
    found = asyncio.run(_list(settings, where, passphrase))
    if as_json:
        print(msgspec.json.encode(found).decode())
    else:
        Console(highlight=False).print(_table(found))


async def _list(settings: Settings, place: str, passphrase: str) -> list[Manifest]:
    return await Backups(await open_place(settings, place, passphrase)).list_backups()


async def _verify(settings: Settings, place: str, passphrase: str, backup_id: str) -> Manifest:
    opened = Backups(await open_place(settings, place, passphrase))
    with progress_bars() as report:
        return await opened.verify(backup_id, report)


def _table(found: list[Manifest]) -> Table:
    table = Table(
        "backup", "restores the state of", "servers", "databases", "media files", "media", "new media"
    )
    for each in found:
        table.add_row(
            escape(each.id),
            f"{each.restored_to:%Y-%m-%d %H:%M:%S} UTC",
            str(len(each.servers)),
            format_size(each.database_bytes),
            str(each.media_files) if each.has_media else "none",
            format_size(each.media_bytes) if each.has_media else "none",
            format_size(each.new_bytes) if each.has_media else "none",
        )
    return table
