"""A progress bar for the command line."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from shardwright.topology import Progress


@contextmanager
def upgrade_bar(console: Console | None = None) -> Generator[Progress]:
    """Shows how much is done while the block runs, from the first change on; pass what it yields as `progress`."""
    columns = (
        TextColumn("[progress.description]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=console, transient=False) as bars:
        task = bars.add_task("upgrading", total=None, visible=False)
        yield lambda done, total: bars.update(task, completed=done, total=total, visible=True)
