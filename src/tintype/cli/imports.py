"""`tintype import`: brings somebody's posts from elsewhere into their account."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from tintype.accounts import AccountNotFound
from tintype.base.log import set_up_log
from tintype.base.settings import Settings
from tintype.cli.running_stack import running_settings
from tintype.imports import (
    ArchiveContents,
    ArchiveFiles,
    Importer,
    ImportOptions,
    ImportReport,
    SkippedItem,
    read_folder,
    read_instagram,
    read_mastodon,
    read_pixelfed,
)
from tintype.wiring import open_rooms

imports_app = typer.Typer(
    help="Import somebody's posts from elsewhere: Instagram, Pixelfed, Mastodon, or a folder of photos.",
    no_args_is_help=True,
)
Read = Callable[[ArchiveFiles], ArchiveContents]
Archives = Annotated[
    list[Path], typer.Argument(help="The zip or tar files, or folders; name all parts of an archive.")
]
Owner = Annotated[str, typer.Option("--as", help="Username of the account that the posts are for.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be imported and what not, and change nothing.")
]
Stories = Annotated[
    bool,
    typer.Option(
        "--stories/--no-stories", help="Import stories as archived posts, which their owner alone sees."
    ),
]
ReportFile = Annotated[
    Path | None, typer.Option("--report", help="Write the whole report to this file, as JSON.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the report as JSON, for scripts.")]
DownloadFrom = Annotated[
    list[str] | None,
    typer.Option(
        "--download-from",
        metavar="HOST",
        help="Fetch pictures that are not beside the list from this host, over HTTPS. Can be repeated.",
    ),
]


@imports_app.command("instagram")
def import_instagram(
    archives: Archives,
    *,
    owner: Owner,
    dry_run: DryRun = False,
    stories: Stories = True,
    report: ReportFile = None,
    as_json: AsJson = False,
) -> None:
    """Import the archive that Instagram gives under "Download your information", in the format JSON."""
    _import(archives, read_instagram, owner, ImportOptions(dry_run, stories), report, as_json=as_json)


@imports_app.command("pixelfed")
def import_pixelfed(
    archives: Archives,
    *,
    owner: Owner,
    dry_run: DryRun = False,
    download_from: DownloadFrom = None,
    report: ReportFile = None,
    as_json: AsJson = False,
) -> None:
    """Import the statuses that Pixelfed exports, and the pictures that you put beside them or name a host for."""
    hosts = frozenset(download_from or ())

    def read(files: ArchiveFiles) -> ArchiveContents:
        return read_pixelfed(files, download_from=hosts)

    _import(archives, read, owner, ImportOptions(dry_run), report, as_json=as_json)


@imports_app.command("mastodon")
def import_mastodon(
    archives: Archives,
    *,
    owner: Owner,
    dry_run: DryRun = False,
    report: ReportFile = None,
    as_json: AsJson = False,
) -> None:
    """Import the posts with pictures of the archive that Mastodon gives under "Import and export"."""
    _import(archives, read_mastodon, owner, ImportOptions(dry_run), report, as_json=as_json)


@imports_app.command("folder")
def import_folder(
    archives: Archives,
    *,
    owner: Owner,
    dry_run: DryRun = False,
    report: ReportFile = None,
    as_json: AsJson = False,
) -> None:
    """Import a folder of photos and videos, each as a post, dated by its sidecar, its camera or its name."""
    _import(archives, read_folder, owner, ImportOptions(dry_run), report, as_json=as_json)


def _import(
    archives: list[Path],
    read: Read,
    owner: str,
    options: ImportOptions,
    report_file: Path | None,
    *,
    as_json: bool,
) -> None:
    settings = running_settings()
    set_up_log(msgspec.structs.replace(settings, log_level="error"), process="cli")
    with ArchiveFiles(archives) as files:
        report = asyncio.run(_run(settings, read(files), owner, options))
    if report_file is not None:
        report_file.write_bytes(msgspec.json.format(msgspec.json.encode(report)) + b"\n")
    if as_json:
        print(msgspec.json.encode(report).decode())
    else:
        _show(report)
    if report.state == "stopped":
        raise typer.Exit(1)


async def _run(
    settings: Settings, contents: ArchiveContents, owner: str, options: ImportOptions
) -> ImportReport:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    async with open_rooms(settings, process="cli") as rooms:
        name = owner.strip().removeprefix("@").lower()
        account = (await rooms.accounts.find_by_usernames([name])).get(name)
        if account is None or not account.is_active:
            raise AccountNotFound(f"There is no active account @{name} here.")
        with Progress(*columns, console=Console(stderr=True)) as bars:
            task = bars.add_task("checking" if options.is_dry_run else "importing", total=None)

            async def show(report: ImportReport) -> None:
                bars.update(task, completed=report.done, total=report.total)

            importer = Importer(rooms.accounts, rooms.visibility, media=rooms.media, posts=rooms.posts)
            return await importer.run(account.id, contents, options, show)


def _show(report: ImportReport) -> None:
    """The whole report: first what was left out or changed, each with its reason, then the totals."""
    console = Console(highlight=False, soft_wrap=True)
    _show_lines(console, "Skipped", report.skipped)
    _show_lines(console, "Changed", report.notes)
    for what, names in (
        ("you follow there", report.following_here),
        ("follow you there", report.followers_here),
    ):
        if names:
            listed = ", ".join(f"@{escape(name)}" for name in names)
            console.print(f"Accounts here that are called like people who {what}: {listed}")
    verb = "Would import" if report.state == "planned" else "Imported"
    console.print(
        f"{verb} [bold]{report.imported}[/] posts with {report.media} photos and videos; "
        f"{report.already_imported} were imported before; {len(report.skipped)} skipped."
    )
    if report.state == "stopped":
        console.print(
            f"[bold red]Stopped:[/] {escape(report.stopped_because)} Run the same command again to continue."
        )


def _show_lines(console: Console, title: str, lines: list[SkippedItem]) -> None:
    if lines:
        console.print(f"[bold]{title}[/]")
    for each in lines:
        console.print(f"  {escape(each.name)}: {escape(each.reason)}")
