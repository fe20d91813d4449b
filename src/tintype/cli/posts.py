"""`tintype posts`: looking after posts and the counts beside them."""

import asyncio
import json
from dataclasses import asdict
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tintype.base.log import set_up_log
from tintype.base.settings import Settings
from tintype.base.tallies import Reconciler, TallyReport
from tintype.cli.running import running_settings
from tintype.wiring import open_rooms

posts_app = typer.Typer(help="Look after posts and the counts beside them.", no_args_is_help=True)
posts_app.callback()(lambda: None)  # with a callback, a single command keeps its name


@posts_app.command("reconcile")
def reconcile(
    *,
    fix: Annotated[
        bool, typer.Option("--fix", help="Put right what differs; otherwise only report.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Compare every count with the rows it counts: likes, posts, followers, followees.

    It exits with 1 when a count is wrong and was not put right.
    """
    settings = running_settings()
    set_up_log(msgspec.structs.replace(settings, log_level="error"), process="reconcile")
    reports = asyncio.run(_reconcile(settings, fix=fix))
    if as_json:
        print(json.dumps([asdict(report) for report in reports]))
    else:
        _show(reports)
    if any(report.drifted > report.repaired for report in reports):
        raise typer.Exit(1)


async def _reconcile(settings: Settings, *, fix: bool) -> list[TallyReport]:
    columns = (TextColumn("{task.description:10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    async with open_rooms(settings, process="reconcile") as rooms:
        tallies = rooms.tallies()
        with Progress(*columns, console=Console(stderr=True)) as bars:
            tasks = {tally.name: bars.add_task(tally.name, total=None) for tally in tallies}

            def show(name: str, done: int, total: int) -> None:
                bars.update(tasks[name], completed=done, total=total)

            return await Reconciler(rooms.shards, tallies).run(fix=fix, progress=show)


def _show(reports: list[TallyReport]) -> None:
    table = Table("count", "looked at", "wrong", "put right", "buffered, left alone")
    for each in reports:
        numbers = (each.looked_at, each.drifted, each.repaired, each.settling)
        table.add_row(each.tally, *map(str, numbers))
    Console().print(table)
    for each in reports:
        for example in each.examples:
            Console().print(f"{each.tally} of {example['id']}: {example['stored']} → {example['counted']}")
