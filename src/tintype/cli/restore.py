"""`tintype restore`: restores a backup into an empty data directory."""

import asyncio
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.markup import escape

from tintype.backup import Manifest, open_place, refuse_used
from tintype.backup import restore as restore_backup
from tintype.base.settings import Settings, load_settings
from tintype.cli.backup_place import (
    AsJson,
    PassphraseFile,
    choose_place,
    describe,
    keep_private,
    progress_bars,
    read_passphrase,
)
from tintype.stack import stack_plan


def restore(
    *,
    place: Annotated[str, typer.Option("--from", help="A directory, or s3://bucket/prefix.")] = "",
    backup_id: Annotated[str, typer.Option("--backup", help="Which one; default: the newest.")] = "",
    home: Annotated[
        Path | None, typer.Option("--home", help="The data directory, which must be empty.")
    ] = None,
    passphrase_file: PassphraseFile = None,
    without_media: Annotated[
        bool,
        typer.Option(
            "--without-media", help="Leave the media store as it is: it has outlived the databases."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Restore a backup into an empty data directory, and media into an empty store.

    Every checksum is compared, and each PostgreSQL server replays its WAL up to the moment of the backup. Then start
    the site with `tintype up`: events that had not been handled are, and caches fill by themselves.
    """
    keep_private()
    loaded = load_settings(overrides={"home": str(home.absolute())} if home else {})
    settings = msgspec.structs.replace(loaded.settings, home=stack_plan(loaded).home)
    where = choose_place(settings, place, "--from")
    refuse_used(settings.home)
    passphrase = read_passphrase(settings, passphrase_file)
    done = asyncio.run(_restore(settings, where, passphrase, backup_id, with_media=not without_media))
    if as_json:
        print(msgspec.json.encode(done).decode())
        return
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"Restored {escape(describe(done))} into {escape(str(settings.home))}")
    console.print(
        "Next: `tintype up`, with the settings of the site that was backed up (restored-settings.toml, if it had a "
        "tintype.toml); while it runs, `tintype media sweep --fix` and `tintype search rebuild`."
    )


async def _restore(
    settings: Settings, place: str, passphrase: str, backup_id: str, *, with_media: bool
) -> Manifest:
    vault = await open_place(settings, place, passphrase)
    with progress_bars() as report:
        return await restore_backup(vault, settings, report, backup_id=backup_id, with_media=with_media)
