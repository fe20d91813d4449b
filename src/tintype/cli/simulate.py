"""`tintype simulate`: what a threshold of the feed costs, tried on invented people before it meets real ones."""

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
from tintype.cli.grounds import borrowed_ground, own_ground
from tintype.cli.running import running_settings
from tintype.simulation import (
    MOST_PEOPLE,
    NEVER,
    Choices,
    Ground,
    Outcome,
    Report,
    Simulation,
    Spread,
    draw,
    name_of,
    sketch,
)

LONGEST_S = 3_600.0
"""One run lasts an hour at most: a threshold is chosen over coffee, not over a night."""


def simulate(
    *,
    thresholds: Annotated[
        str,
        typer.Option(
            "--thresholds",
            help="From how many followers on posts are no longer pushed; 0: never pushed, inf: always.",
        ),
    ] = "0,50,200,inf",
    people: Annotated[
        int, typer.Option("--people", min=2, max=MOST_PEOPLE, help="How many people live here.")
    ] = 500,
    follows: Annotated[
        int, typer.Option("--follows", min=1, max=5_000, help="Whom each follows, on average.")
    ] = 25,
    hours: Annotated[float, typer.Option("--hours", min=0.01, max=720, help="How long they live.")] = 24,
    speed: Annotated[
        float, typer.Option("--speed", min=1, max=1_000_000, help="Simulated seconds in a second.")
    ] = 2_000,
    seed: Annotated[int, typer.Option("--seed", help="Another seed, other people and another day.")] = 1,
    live: Annotated[
        bool,
        typer.Option(
            "--live", help="On the servers that run here, beside their real load, in databases of its own."
        ),
    ] = False,
    plot: Annotated[
        Path, typer.Option("--plot", dir_okay=False, help="Where the picture goes (SVG).")
    ] = Path("simulation.svg"),
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Try thresholds of the home feed on invented people, and say which one to take.

    A post is pushed onto its followers' timelines, which makes reads cheap,
    unless its author has as many followers as the threshold
    (feed_push_followers): then readers fetch it, which makes posting cheap.
    The same people, few of them followed by many, live the same day under
    each threshold, asleep at night and busy in the evening of their own time
    zones. Reported are how long reads take, how soon a post shows in a
    follower's feed, how many timeline entries a post costs, and the processor
    time of it all.

    Everything happens on servers of its own in a temporary directory; with
    --live on those that run here, in databases of its own, which compete with
    your visitors. Nothing stays either way, but the picture.

    [bold]tintype simulate --people 5000 --thresholds 0,100,1000,inf[/]
    """
    wanted = _parse(thresholds)
    choices = Choices(people=people, follows=follows, hours=hours, speed=speed, seed=seed)
    if choices.wall_s > LONGEST_S:
        raise typer.BadParameter(
            f"{hours:g} hours at this speed take {choices.wall_s / 60:.0f} minutes: raise --speed."
        )
    set_up_log(Settings(log_level="error"), process="simulate")
    ground = borrowed_ground(running_settings()) if live else own_ground()
    report = asyncio.run(_compare(ground, choices, wanted))
    plot.write_text(draw(report), encoding="utf-8")
    if as_json:
        print(msgspec.json.encode(report).decode())
    else:
        _show(report, plot)


def _parse(text: str) -> list[int]:
    """The thresholds, each once, in their order."""
    found: dict[int, None] = {}
    for part in text.split(","):
        word = part.strip().lower()
        if not re.fullmatch(r"inf|[0-9]{1,9}", word):
            raise typer.BadParameter(f"{part!r} is no threshold: write numbers of followers, or inf.")
        found[NEVER if word == "inf" else int(word)] = None
    return list(found)


async def _compare(
    ground: AbstractAsyncContextManager[Ground], choices: Choices, thresholds: list[int]
) -> Report:
    columns = (TextColumn("{task.description:26}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        show = _shower(bars)
        starting = bars.add_task("starting", total=None)
        async with ground as made:
            bars.remove_task(starting)
            return await Simulation(made, choices).compare(thresholds, show)


def _shower(bars: Progress) -> Callable[[int, str, int, int], None]:
    tasks: dict[int, TaskID] = {}

    def show(threshold: int, stage: str, done: int, total: int) -> None:
        if threshold not in tasks:
            tasks[threshold] = bars.add_task("", total=None)
        name = f"{name_of(threshold)}: {stage}"
        bars.update(tasks[threshold], description=name, completed=done, total=total)

    return show


def _show(report: Report, plot: Path) -> None:
    console = Console(highlight=False)
    console.print(_table(report.outcomes))
    for line in sketch(report):
        console.print(line, markup=False)
    console.print(f"\n{report.advice}\nPicture: {plot}", markup=False)


def _table(outcomes: list[Outcome]) -> Table:
    table = Table("", *(name_of(one.threshold) for one in outcomes))
    for column in table.columns[1:]:
        column.justify = "right"
    counts: dict[str, Callable[[Outcome], float]] = {
        "authors not pushed": lambda one: one.stars,
        "posts": lambda one: one.posts,
        "reads": lambda one: one.reads,
        "failed, never seen": lambda one: one.failed + one.unseen,
    }
    for title, ask in counts.items():
        table.add_row(title, *(f"{ask(one):,.0f}" for one in outcomes))
    spreads: dict[str, Callable[[Outcome], Spread]] = {
        "reading, ms": lambda one: one.read_ms,
        "until visible, ms": lambda one: one.fresh_ms,
        "behind the plan, ms": lambda one: one.late_ms,
    }
    for title, find in spreads.items():
        for name in ("p50", "p90", "p99", "max"):
            label = f"{title} {name}" if name == "p50" else f"{name:>{len(title) + 4}}"
            table.add_row(
                label, *(f"{getattr(find(one), name):,.0f}" for one in outcomes), end_section=name == "max"
            )
    table.add_row("entries written a post", *(f"{one.amplification:.1f}" for one in outcomes))
    table.add_row("CPU-ms a deed", *(f"{one.cpu_ms:.2f}" for one in outcomes))
    return table
