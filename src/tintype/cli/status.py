"""`tintype status`: what runs, since when, with how much memory, and how often it had to be started again."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich import box
from rich.console import Console
from rich.table import Table

from tintype.base.settings import load_settings
from tintype.stack import Home, Overview, Phase, ProcessView, look, plan_from

_NOT_ALL_READY = 1
_NOT_RUNNING = 3
_COLOURS = {Phase.READY: "green", Phase.STARTING: "yellow", Phase.WAITING: "red", Phase.STOPPING: "yellow"}
_NUMBERS = ("pid", "port", "memory", "restarts")


def status(
    *,
    home: Annotated[Path | None, typer.Option("--home", help="The data directory.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Show what runs. Exit code 0: all ready; 1: not all of it; 3: nothing runs."""
    overrides = {"home": str(home.absolute())} if home else {}
    overview = look(Home(plan_from(load_settings(overrides=overrides)).home))
    if as_json:
        print(msgspec.json.encode(overview).decode())
    elif overview.running:
        Console().print(_table(overview))
    else:
        print(f"Not running. Data directory: {overview.home}")
    if not overview.is_ready:
        raise typer.Exit(_NOT_ALL_READY if overview.running else _NOT_RUNNING)


def _table(overview: Overview) -> Table:
    title = f"Tintype at {overview.address or overview.home}"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for heading in ("", "state", "pid", "port", "up for", "memory", "restarts", "last exit"):
        table.add_column(heading, justify="right" if heading in _NUMBERS else "left", no_wrap=True)
    for process in overview.processes:
        table.add_row(*_cells(process))
    for name in overview.existing_servers:
        table.add_row(name, "[blue]existing server[/]")
    return table


def _cells(process: ProcessView) -> list[str]:
    colour = _COLOURS.get(process.phase, "dim")
    memory = process.memory_bytes
    return [
        process.name,
        f"[{colour}]{process.phase}[/]",
        str(process.pid or ""),
        str(process.port or ""),
        _duration(process.uptime_s),
        "" if memory is None else f"{memory / 1024**2:.0f} MiB",
        str(process.restarts or ""),
        process.last_exit,
    ]


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [f"{days} d" if days else "", f"{hours} h" if hours else "", f"{minutes} min" if minutes else ""]
    return " ".join([part for part in parts if part][:2]) or f"{rest} s"
