"""`shardwright upgrade`: brings the library's own SQL forward in the directory, on every server and in every shard."""

from collections import Counter
from typing import Annotated, Any

import typer
from rich.console import Console

from shardwright.cli.output import print_json, print_message, print_table
from shardwright.cli.runner import EXIT_FAILED, open_directory, run
from shardwright.cli.settings import DirectoryOption, JsonOption, get_directory
from shardwright.migrations import (
    LibraryStatus,
    UpgradeFailed,
    UpgradeReport,
    read_library_status,
    upgrade_bar,
    upgrade_library,
)


def upgrade(
    context: typer.Context,
    directory: DirectoryOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Change nothing; show what is behind and what would be done.")
    ] = False,
    is_json: JsonOption = False,
) -> None:
    """Bring shardwright's own SQL forward to this release: in the directory, on every server, in every shard.

    Run it as the migrator after a new release of the package is installed, before `migrate` and before the first
    router of the new release. `shardwright status` and `shardwright doctor` say when it is due. Your tables stay as
    they are: those are for `migrate`.

    Safe while the application runs, also on the release before: shards are changed in batches, a short transaction
    each, servers in parallel, and a lock that is not free is tried again later. Safe to interrupt and to repeat: it
    goes on where it stopped. Nothing is ever set back: where something is newer than this release, it says so and
    changes nothing.

        pip install --upgrade shardwright
        shardwright upgrade --dry-run
        shardwright upgrade && shardwright migrate
    """
    get_directory(context, directory)

    async def read() -> LibraryStatus:
        async with open_directory(context, directory) as found:
            status = await read_library_status(found)
        status.check()
        return status

    async def work() -> UpgradeReport:
        async with open_directory(context, directory) as found:
            with upgrade_bar(Console(stderr=True)) as progress:
                return await upgrade_library(found, progress=progress)

    status = run(read())
    if not is_json:
        _show_plan(status, dry_run=dry_run)
    if dry_run or not status.behind:
        if is_json:
            _print_json(status, UpgradeReport(status.release.version))
    elif is_json:
        _print_json(status, run(_even_if_failed(work())))
    else:
        report = run(work())
        print_message(f"{report.upgraded} brought to version {report.version} of shardwright's own SQL.")


async def _even_if_failed(work: Any) -> UpgradeReport:
    """Return the report also after a failure, for JSON output."""
    try:
        return await work
    except UpgradeFailed as failure:
        return failure.report


def _show_plan(status: LibraryStatus, *, dry_run: bool) -> None:
    wanted = status.release.version
    if not status.behind:
        print_message(f"Everything has version {wanted} of shardwright's own SQL.")
        return
    rows: list[list[Any]] = []
    if status.is_directory_behind:
        rows.append(
            ["directory", f"{status.directory} → {wanted}", "", _steps(status, "directory", status.directory)]
        )
    for each in status.servers:
        if status.is_behind(each):
            how = "functions replaced" if each.is_replaced else f"{each.version} → {wanted}"
            rows.append([f"server {each.name}", how, "", _steps(status, "server", each.version)])
        for version, count in sorted(Counter(each.shards.values()).items()):
            if version < wanted:
                what = [f"shards on {each.name}", f"{version} → {wanted}", f"{count} of {len(each.shards)}"]
                rows.append([*what, _steps(status, "shard", version)])
    print_table(["what", "version", "shards", "steps"], rows)
    if dry_run:
        print_message("Nothing was changed.")


def _steps(status: LibraryStatus, level: Any, version: int) -> str:
    return ", ".join(["functions", *(step.name for step in status.release.pending(level, version))])


def _print_json(status: LibraryStatus, report: UpgradeReport) -> None:
    print_json(
        {
            "version": report.version,
            "behind": status.behind,
            "directory": status.directory,
            "servers": {
                each.name: {"version": each.version, "shards": Counter(each.shards.values())}
                for each in status.servers
            },
            "upgraded": report.upgraded,
            "failed": report.failed,
        }
    )
    if report.failed:
        raise typer.Exit(EXIT_FAILED)
