"""What `backup`, `backups` and `restore` share: their options, the passphrase, progress bars, and how one is shown."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from tintype.backup import Manifest, Report
from tintype.base.errors import SettingsInvalid
from tintype.base.settings import Settings
from tintype.cli.sizes import format_size

PassphraseFile = Annotated[
    Path | None,
    typer.Option(
        "--passphrase-file", help="File with the passphrase, instead of the setting backup_passphrase."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


_PRIVATE = 0o077


def keep_private() -> None:
    """Let nobody else on this machine read what is written from now on: backups hold passwords and private photos."""
    os.umask(_PRIVATE)


def choose_place(settings: Settings, given: str, option: str) -> str:
    """The place of the backups: the option, or the setting."""
    place = given or settings.backup_to
    if not place:
        raise SettingsInvalid(
            f"Say where the backups are: {option} DIRECTORY or s3://…, or the setting backup_to."
        )
    return place


def read_passphrase(settings: Settings, file: Path | None) -> str:
    """The passphrase from a file, without the line break at its end, or from the settings; empty: none."""
    if file is None:
        return settings.backup_passphrase
    try:
        found = file.read_text().rstrip("\r\n")
    except OSError as error:
        raise SettingsInvalid(f"The passphrase file {file} cannot be read: {error.strerror}.") from error
    if not found:
        raise SettingsInvalid(f"The passphrase file {file} is empty.")
    return found


@contextmanager
def progress_bars() -> Generator[Report]:
    """Bars on the terminal, one for each thing that is copied: servers in MB, media in files."""
    columns = (TextColumn("{task.description:10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        tasks: dict[str, TaskID] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=None)
            bars.update(tasks[what], completed=done, total=total or None)

        yield show


def describe(manifest: Manifest) -> str:
    """One backup in a line."""
    servers = f"{len(manifest.servers)} PostgreSQL server{'s' if len(manifest.servers) > 1 else ''}"
    media = (
        f"{manifest.media_files} media files ({format_size(manifest.media_bytes)})"
        if manifest.has_media
        else "no media"
    )
    return f"{manifest.id}: {servers} ({format_size(manifest.database_bytes)}), {media}"
