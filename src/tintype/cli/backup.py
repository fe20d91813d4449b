"""`tintype backup`: copies the whole running site to a directory or an S3 bucket, and deletes old backups."""

import asyncio
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.markup import escape

from tintype.backup import Backups, Manifest, open_place
from tintype.base.log import set_up_log
from tintype.base.settings import Settings
from tintype.cli.backup_place import (
    AsJson,
    PassphraseFile,
    choose_place,
    describe,
    keep_private,
    progress_bars,
    read_passphrase,
)
from tintype.cli.running_stack import running_settings
from tintype.cli.sizes import format_size


def backup(
    *,
    to: Annotated[str, typer.Option("--to", help="A directory, or s3://bucket/prefix.")] = "",
    passphrase_file: PassphraseFile = None,
    without_media: Annotated[
        bool,
        typer.Option(
            "--without-media", help="Databases and secrets alone, where media are copied otherwise."
        ),
    ] = False,
    keep: Annotated[
        int | None, typer.Option("--keep", min=1, help="How many backups to keep; default: backup_keep.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Back up the running site: every PostgreSQL server, media, secrets and settings.

    People go on using the site meanwhile. Media that an earlier backup at the same place has are not copied again.
    Everything that is written is read back. With a passphrase, a new place is encrypted.
    """
    keep_private()
    settings = running_settings()
    set_up_log(msgspec.structs.replace(settings, log_level="warning"), process="backup")
    place = choose_place(settings, to, "--to")
    passphrase = read_passphrase(settings, passphrase_file)
    kept = keep or settings.backup_keep
    made, gone = asyncio.run(_back_up(settings, place, passphrase, kept, with_media=not without_media))
    if as_json:
        print(msgspec.json.encode({"backup": made, "deleted": gone}).decode())
        return
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"Backup {escape(describe(made))}")
    console.print(
        f"Copied {made.new_files} new media files ({format_size(made.new_bytes)}); everything was read back."
    )
    if not made.is_one_moment:
        console.print(
            "[yellow]Note[/] A long transaction held an outbox: the servers are milliseconds apart."
        )
    if gone:
        console.print(f"Deleted {len(gone)} older: {', '.join(gone)}")


async def _back_up(
    settings: Settings, place: str, passphrase: str, keep: int, *, with_media: bool
) -> tuple[Manifest, list[str]]:
    backups = Backups(await open_place(settings, place, passphrase, may_create=True))
    with progress_bars() as report:
        made = await backups.create(settings, report, with_media=with_media)
    return made, await backups.prune(keep)
