"""A progress bar for the command line: step, tables, rows, bytes and lag."""

from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from shardwright.moves.models import MOVING, Move, MoveProgress, OnProgress, OnStep, Phase


@contextmanager
def move_bar(console: Console | None = None) -> Generator[tuple[OnProgress, OnStep]]:
    """Shows every move, a line each, while the block runs; pass what it yields as `progress` and `on_step`."""
    columns = (
        TextColumn("[progress.description]{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[detail]}"),
    )
    bars = Bars(*columns, console=console, transient=False)
    tasks: dict[int, TaskID] = {}

    def task_of(move: Move) -> TaskID:
        bars.start()  # not before there is something to show: a refusal is preceded by nothing
        if move.id not in tasks:
            tasks[move.id] = bars.add_task("", total=len(MOVING), detail="")
        return tasks[move.id]

    def show(progress: MoveProgress) -> None:
        bars.update(task_of(progress.move), detail=describe(progress))

    def step(move: Move, phase: Phase) -> None:
        done = MOVING.index(move.step) if move.step in MOVING else len(MOVING)
        is_over = phase == "effect"
        shards = f"{len(move.shards)} shards" if len(move.shards) > 1 else move.schemas[0]
        title = f"move {move.id}, {shards} to {move.target}: {move.step}"
        bars.update(task_of(move), description=title, completed=done + is_over, detail="")

    try:
        yield show, step
    finally:
        if tasks:
            bars.stop()


def describe(progress: MoveProgress) -> str:
    """One line: what is copied of what, and how much the target has not applied yet."""
    parts = [
        f"{progress.tables_copied}/{progress.tables} tables",
        f"{progress.rows or 0:,}/{progress.rows_total or 0:,} rows",
        f"{decimal(progress.size_bytes or 0)}/{decimal(progress.size_total_bytes or 0)}",
    ]
    if progress.lag_bytes is not None:
        parts.append(f"lag {decimal(progress.lag_bytes)}")
    if progress.errors:
        parts.append(f"{progress.errors} errors at the target, see its log")
    return ", ".join(parts)
