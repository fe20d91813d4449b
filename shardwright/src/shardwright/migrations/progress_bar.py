"""A progress bar for the command line."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from shardwright.migrations.report import OnProgress, Progress


@contextmanager
def progress_bar(console: Console | None = None) -> Generator[OnProgress]:
    """Shows how many shards are done while the block runs; pass what it yields as `progress`."""
    columns = (
        TextColumn("[progress.description]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[detail]}"),
    )
    with Bars(*columns, console=console, transient=False) as bars:
        task = bars.add_task("migrating", total=None, detail="")

        def show(progress: Progress) -> None:
            detail = (
                "" if progress.what == "finished" else f"{progress.target}: {progress.what} {progress.detail}"
            )
            bars.update(task, completed=progress.done, total=progress.total, detail=detail[:60])
            if progress.what == "failed":
                bars.console.print(f"[red]{progress.target}[/red]: {progress.detail}")

        yield show
        # When there was nothing to do, no total was reported, and a bar without one never ends.
        bars.update(task, total=bars.tasks[0].completed)
