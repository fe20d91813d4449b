"""`tintype posts`: reconciles stored counters with the rows they count."""

import asyncio
import json
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tintype.base.counter_reconciler import CounterReconciler, ReconcileReport
from tintype.base.log import set_up_log
from tintype.base.settings import Settings
from tintype.cli.running_stack import running_settings
from tintype.wiring import open_rooms

posts_app = typer.Typer(help="Reconcile the counters of posts and accounts.", no_args_is_help=True)
posts_app.callback()(lambda: None)  # with a callback, a single command keeps its name


@posts_app.command("reconcile")
def reconcile(
    *,
    fix: Annotated[
        bool, typer.Option("--fix", help="Correct wrong counters; otherwise only report them.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Compare every stored counter with the rows it counts: likes, posts, followers, followees.

    Exit code 1 when a counter is wrong and was not corrected.
    """
    settings = running_settings()
    set_up_log(msgspec.structs.replace(settings, log_level="error"), process="reconcile")
    reports = asyncio.run(_reconcile(settings, fix=fix))
    if as_json:
        print(json.dumps([_as_json(report) for report in reports]))
    else:
        _show(reports)
    if any(report.drifted > report.repaired for report in reports):
        raise typer.Exit(1)


async def _reconcile(settings: Settings, *, fix: bool) -> list[ReconcileReport]:
    columns = (TextColumn("{task.description:10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    async with open_rooms(settings, process="reconcile") as rooms:
        tallies = rooms.reconciled_counters()
        with Progress(*columns, console=Console(stderr=True)) as bars:
            tasks = {tally.name: bars.add_task(tally.name, total=None) for tally in tallies}

            def show(name: str, done: int, total: int) -> None:
                bars.update(tasks[name], completed=done, total=total)

            return await CounterReconciler(rooms.shards, tallies).run(fix=fix, progress=show)


def _as_json(report: ReconcileReport) -> dict[str, object]:
    return {
        "tally": report.counter,
        "looked_at": report.checked,
        "drifted": report.drifted,
        "repaired": report.repaired,
        "settling": report.unsettled,
        "examples": report.examples,
    }


def _show(reports: list[ReconcileReport]) -> None:
    table = Table("counter", "checked", "wrong", "corrected", "buffered, skipped")
    for each in reports:
        numbers = (each.checked, each.drifted, each.repaired, each.unsettled)
        table.add_row(each.counter, *map(str, numbers))
    Console().print(table)
    for each in reports:
        for example in each.examples:
            Console().print(f"{each.counter} of {example['id']}: {example['stored']} → {example['counted']}")
