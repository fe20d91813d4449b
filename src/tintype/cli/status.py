"""`tintype status`: every process with its state, uptime, memory and number of restarts."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich import box
from rich.console import Console
from rich.table import Table

from tintype.base.settings import Loaded, load_settings
from tintype.cli.running_moves import find_moves
from tintype.cli.running_replicas import find_replicas
from tintype.stack import (
    DataDirectory,
    MoveStatus,
    Phase,
    ProcessStatus,
    ReplicaState,
    ReplicaStatus,
    StackStatus,
    read_status,
    stack_plan,
)

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
    loaded = load_settings(overrides=overrides)
    stack_status = read_status(DataDirectory(stack_plan(loaded).home))
    if stack_status.running:
        replicas, moves = asyncio.run(_find(loaded))
        stack_status = msgspec.structs.replace(stack_status, replicas=tuple(replicas), moves=tuple(moves))
    if as_json:
        print(msgspec.json.encode(stack_status).decode())
    elif stack_status.running:
        Console().print(_table(stack_status))
        if stack_status.replicas:
            Console().print(_replicas_table(stack_status.replicas))
        for each in stack_status.moves:
            Console().print(f"{each.what}.{_sentence(each.advice)}", highlight=False)
    else:
        print(f"Not running. Data directory: {stack_status.home}")
    if not stack_status.is_ready:
        raise typer.Exit(_NOT_ALL_READY if stack_status.running else _NOT_RUNNING)


async def _find(loaded: Loaded) -> tuple[list[ReplicaStatus], list[MoveStatus]]:
    return await asyncio.gather(find_replicas(loaded), find_moves(loaded))


def _table(stack_status: StackStatus) -> Table:
    title = f"Tintype at {stack_status.address or stack_status.home}"
    facts = [f"Metrics are on port {stack_status.metrics_port}."] if stack_status.metrics_port else []
    facts += [f"Live connections are {'on, at /mqtt' if stack_status.realtime else 'off'}."]
    table = Table(
        title=title,
        title_justify="left",
        caption=" ".join(facts),
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


def _replicas_table(replicas: Sequence[ReplicaStatus]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("replica of", "state", "address", "behind", ""):
        table.add_column(heading, no_wrap=heading != "")
    for each in replicas:
        colour = "green" if each.state is ReplicaState.FOLLOWING else "red"
        table.add_row(each.server, f"[{colour}]{each.state}[/]", each.address, _lag(each), each.detail)
    return table


def _sentence(text: str) -> str:
    return f" {text[0].upper()}{text[1:]}." if text else ""


def _lag(replica: ReplicaStatus) -> str:
    if replica.lag_bytes is None:
        return ""
    if replica.lag_bytes == 0:
        return "nothing"
    since = "" if replica.lag_s is None else f", {replica.lag_s:.1f} s"
    return f"{replica.lag_bytes / 1024**2:.1f} MiB{since}"


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
