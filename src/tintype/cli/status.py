"""`tintype status`: every process with its state, uptime, memory and number of restarts."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich import box
from rich.console import Console
from rich.table import Table

from tintype.base.settings import load_settings
from tintype.stack import DataDirectory, Phase, ProcessStatus, StackStatus, read_status, stack_plan

_NOT_ALL_READY = 1
_NOT_RUNNING = 3
_COLOURS = {Phase.READY: "green", Phase.STARTING: "yellow", Phase.WAITING: "red", Phase.STOPPING: "yellow"}
_NUMBERS = ("pid", "port", "procs", "memory", "restarts")


def status(
    *,
    home: Annotated[Path | None, typer.Option("--home", help="The data directory.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Show every process. Exit code 0: all ready; 1: not all ready; 3: not running."""
    overrides = {"home": str(home.absolute())} if home else {}
    stack_status = read_status(DataDirectory(stack_plan(load_settings(overrides=overrides)).home))
    if as_json:
        print(msgspec.json.encode(stack_status).decode())
    elif stack_status.running:
        Console().print(_table(stack_status))
    else:
        print(f"Not running. Data directory: {stack_status.home}")
    if not stack_status.is_ready:
        raise typer.Exit(_NOT_ALL_READY if stack_status.running else _NOT_RUNNING)


def _table(stack_status: StackStatus) -> Table:
    title = f"Tintype at {stack_status.address or stack_status.home}"
    metrics = f"Metrics are on port {stack_status.metrics_port}." if stack_status.metrics_port else None
    table = Table(
        title=title,
        title_justify="left",
        caption=metrics,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    headings = ["", "state", "pid", "port", "up for", "procs", "memory"]
    if any(each.restarts or each.last_exit for each in stack_status.processes):
        headings += ["restarts", "last exit"]
    for heading in headings:
        table.add_column(heading, justify="right" if heading in _NUMBERS else "left", no_wrap=True)
    for process in stack_status.processes:
        table.add_row(*_cells(process)[: len(headings)])
    if stack_status.memory_bytes is not None:
        table.add_section()
        table.add_row("all", "", "", "", "", str(_count(stack_status)), _mebibytes(stack_status.memory_bytes))
    for name in stack_status.existing_servers:
        table.add_row(name, "[blue]existing server[/]")
    return table


def _cells(process: ProcessStatus) -> list[str]:
    colour = _COLOURS.get(process.phase, "dim")
    return [
        process.name,
        f"[{colour}]{process.phase}[/]",
        str(process.pid or ""),
        str(process.port or ""),
        _duration(process.uptime_s),
        str(process.process_count or ""),
        _mebibytes(process.memory_bytes),
        str(process.restarts or ""),
        process.last_exit,
    ]


def _count(stack_status: StackStatus) -> int:
    """Every process, the supervisor included."""
    return 1 + sum(each.process_count for each in stack_status.processes)


def _mebibytes(size_bytes: int | None) -> str:
    return "" if size_bytes is None else f"{size_bytes / 1024**2:.0f} MiB"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [f"{days} d" if days else "", f"{hours} h" if hours else "", f"{minutes} min" if minutes else ""]
    return " ".join([part for part in parts if part][:2]) or f"{rest} s"
