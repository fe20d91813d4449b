"""`tintype media`: compare rows with files, and move media between stores."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from tintype.base.log import set_up_log
from tintype.base.settings import Settings, load_settings
from tintype.cli.running_stack import running_settings
from tintype.cli.sandbox_walls import show_walls
from tintype.media import SweepReport, TierMoves, check_walls, missing_walls
from tintype.wiring import open_rooms

media_app = typer.Typer(
    help="Manage media files: find orphans, move between storage tiers.", no_args_is_help=True
)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
MEANINGS = {
    "orphans": "folders without a row",
    "doubled": "folders in two stores",
    "lost": "rows without files",
    "stale_uploads": "leftover parts of uploads",
}


@media_app.command("sweep")
def sweep_media(
    *,
    fix: Annotated[
        bool, typer.Option("--fix", help="Delete orphaned files, and mark media whose files are lost.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare database rows with files, both ways; exit code 1 when they differ and --fix was not given."""
    report = asyncio.run(_sweep(_quiet_settings(), fix=fix))
    if as_json:
        print(msgspec.json.encode(report).decode())
    else:
        _show_sweep(report)
    if not (report.is_clean or fix):
        raise typer.Exit(1)


@media_app.command("tiers")
def move_media(*, as_json: AsJson = False) -> None:
    """Move media to the storage tier that fits their age and use; a scheduled job does the same once a day."""
    moves = asyncio.run(_move(_quiet_settings()))
    if as_json:
        print(msgspec.json.encode(moves).decode())
        return
    moved = f"{moves.to_hot} to hot, {moves.to_warm} to warm, {moves.to_cold} to cold"
    Console().print(f"Checked {moves.looked_at}: {moved}; {moves.failed} could not be moved.")


@media_app.command("walls")
def list_walls(*, as_json: AsJson = False) -> None:
    """List the walls of the sandbox that decodes media; exit code 1 when one that the settings require is missing."""
    walls = check_walls()
    if as_json:
        print(msgspec.json.encode(walls).decode())
    else:
        show_walls(walls)
    raise typer.Exit(int(bool(missing_walls(walls, load_settings().settings.media_sandbox_walls))))


async def _sweep(settings: Settings, *, fix: bool) -> SweepReport:
    async with open_rooms(settings, process="cli") as rooms:
        with _bar("accounts") as (bars, task):

            def show(done: int, total: int) -> None:
                bars.update(task, completed=done, total=total)

            return await rooms.media.sweep(fix=fix, on_account=show)


async def _move(settings: Settings) -> TierMoves:
    async with open_rooms(settings, process="cli") as rooms:
        with _bar("media") as (bars, task):

            def show(moves: TierMoves) -> None:
                bars.update(task, completed=moves.looked_at)

            return await rooms.media.move_tiers(show)


@contextmanager
def _bar(what: str) -> Generator[tuple[Progress, TaskID]]:
    columns = (TextColumn("{task.description:8}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        yield bars, bars.add_task(what, total=None)


def _show_sweep(report: SweepReport) -> None:
    table = Table("found", "how many", "for example")
    for kind, count in report.counts.items():
        table.add_row(MEANINGS[kind], str(count), "\n".join(report.names[kind][:3]))
    summary = f"{report.files} files ({report.bytes / 1e6:.1f} MB) of {report.accounts} accounts"
    Console().print(summary + (", fixed." if report.is_fixed and not report.is_clean else "."), table)


def _quiet_settings() -> Settings:
    settings = running_settings()
    set_up_log(msgspec.structs.replace(settings, log_level="warning"), process="cli")
    return settings
