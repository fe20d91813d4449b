"""`tintype simulate`: compares push thresholds of the home feed under a simulated load."""

import asyncio
import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from tintype.base.log import set_up_log
from tintype.base.settings import Settings
from tintype.cli.running_stack import running_settings
from tintype.cli.simulation_servers import start_servers, use_running_servers
from tintype.simulation import (
    MAX_PEOPLE,
    NEVER,
    Distribution,
    InstallationFactory,
    Simulation,
    SimulationOptions,
    SimulationReport,
    ThresholdOutcome,
    name_of,
    render_svg,
    render_text,
)

MAX_RUN_S = 3_600.0
"""Upper limit for the duration of one run."""


def simulate(
    *,
    thresholds: Annotated[
        str,
        typer.Option(
            "--thresholds",
            help="Follower counts from which posts are no longer pushed; 0: never push, inf: always push.",
        ),
    ] = "0,50,200,inf",
    people: Annotated[
        int, typer.Option("--people", min=2, max=MAX_PEOPLE, help="Number of simulated people.")
    ] = 500,
    follows: Annotated[
        int, typer.Option("--follows", min=1, max=5_000, help="How many people each follows, on average.")
    ] = 25,
    hours: Annotated[
        float, typer.Option("--hours", min=0.01, max=720, help="Simulated duration in hours.")
    ] = 24,
    speed: Annotated[
        float, typer.Option("--speed", min=1, max=1_000_000, help="Simulated seconds per real second.")
    ] = 2_000,
    seed: Annotated[
        int, typer.Option("--seed", help="Random seed: another seed makes other people and other activity.")
    ] = 1,
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help="Run on the servers of this installation, next to their real load, in separate databases.",
        ),
    ] = False,
    plot: Annotated[Path, typer.Option("--plot", dir_okay=False, help="File for the chart (SVG).")] = Path(
        "simulation.svg"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Compare push thresholds of the home feed on simulated people, and recommend one.

    A post is pushed onto its followers' timelines, which makes reads cheap,
    unless its author has as many followers as the threshold
    (feed_push_followers): then readers fetch it, which makes posting cheap.
    The same people, few of them followed by many, repeat the same day under
    each threshold, asleep at night and active in the evening of their own time
    zones. Reported are how long reads take, how soon a post shows in a
    follower's feed, how many timeline entries a post costs, and the CPU time
    of all of it.

    Everything runs on separate servers in a temporary directory; with --live on
    the running servers, in separate databases, where it competes with your
    visitors. Nothing is left behind but the chart.

    [bold]tintype simulate --people 5000 --thresholds 0,100,1000,inf[/]
    """
    wanted = _parse(thresholds)
    choices = SimulationOptions(people=people, follows=follows, hours=hours, speed=speed, seed=seed)
    if choices.wall_s > MAX_RUN_S:
        raise typer.BadParameter(
            f"{hours:g} hours at this speed take {choices.wall_s / 60:.0f} minutes: raise --speed."
        )
    set_up_log(Settings(log_level="error"), process="simulate")
    servers = use_running_servers(running_settings()) if live else start_servers()
    report = asyncio.run(_compare(servers, choices, wanted))
    plot.write_text(render_svg(report), encoding="utf-8")
    if as_json:
        print(msgspec.json.encode(report).decode())
    else:
        _show(report, plot)


def _parse(text: str) -> list[int]:
    """Parse the thresholds, without duplicates, in the order given."""
    found: dict[int, None] = {}
    for part in text.split(","):
        word = part.strip().lower()
        if not re.fullmatch(r"inf|[0-9]{1,9}", word):
            raise typer.BadParameter(f"{part!r} is not a threshold: give numbers of followers, or inf.")
        found[NEVER if word == "inf" else int(word)] = None
    return list(found)


async def _compare(
    servers: AbstractAsyncContextManager[InstallationFactory],
    choices: SimulationOptions,
    thresholds: list[int],
) -> SimulationReport:
    columns = (TextColumn("{task.description:26}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        show = _progress_reporter(bars)
        starting = bars.add_task("starting", total=None)
        async with servers as factory:
            bars.remove_task(starting)
            return await Simulation(factory, choices).compare(thresholds, show)


def _progress_reporter(bars: Progress) -> Callable[[int, str, int, int], None]:
    tasks: dict[int, TaskID] = {}

    def show(threshold: int, stage: str, done: int, total: int) -> None:
        if threshold not in tasks:
            tasks[threshold] = bars.add_task("", total=None)
        name = f"{name_of(threshold)}: {stage}"
        bars.update(tasks[threshold], description=name, completed=done, total=total)

    return show


def _show(report: SimulationReport, plot: Path) -> None:
    console = Console(highlight=False)
    console.print(_table(report.outcomes))
    for line in render_text(report):
        console.print(line, markup=False)
    console.print(f"\n{report.advice}\nChart: {plot}", markup=False)


def _table(outcomes: list[ThresholdOutcome]) -> Table:
    table = Table("", *(name_of(one.threshold) for one in outcomes))
    for column in table.columns[1:]:
        column.justify = "right"
    counts: dict[str, Callable[[ThresholdOutcome], float]] = {
        "authors not pushed": lambda one: one.stars,
        "posts": lambda one: one.posts,
        "reads": lambda one: one.reads,
        "failed or never visible": lambda one: one.failed + one.unseen,
    }
    for title, count in counts.items():
        table.add_row(title, *(f"{count(one):,.0f}" for one in outcomes))
    spreads: dict[str, Callable[[ThresholdOutcome], Distribution]] = {
        "reading, ms": lambda one: one.read_ms,
        "until visible, ms": lambda one: one.fresh_ms,
        "behind schedule, ms": lambda one: one.late_ms,
    }
    for title, find in spreads.items():
        for name in ("p50", "p90", "p99", "max"):
            label = f"{title} {name}" if name == "p50" else f"{name:>{len(title) + 4}}"
            table.add_row(
                label, *(f"{getattr(find(one), name):,.0f}" for one in outcomes), end_section=name == "max"
            )
    table.add_row("entries written per post", *(f"{one.amplification:.1f}" for one in outcomes))
    table.add_row("CPU-ms per action", *(f"{one.cpu_ms:.2f}" for one in outcomes))
    return table
