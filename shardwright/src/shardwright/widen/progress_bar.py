"""A progress bar for the command line: one line for each schema that is being widened, at most a few."""

from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from shardwright.widen.models import OnWidenProgress, WidenProgress

_LINES = 8


@contextmanager
def widen_bar(console: Console | None = None) -> Generator[OnWidenProgress]:
    """Shows widenings while the block runs; pass what it yields as `progress`."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[doing]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as bars:
        tasks: dict[str, TaskID] = {}

        def show(progress: WidenProgress) -> None:
            if progress.schema not in tasks and len(tasks) == _LINES:
                bars.remove_task(tasks.pop(next(iter(tasks))))
            if progress.schema not in tasks:
                tasks[progress.schema] = bars.add_task(progress.schema, total=None, doing="")
            total = progress.blocks_total or None
            completed = progress.blocks if total else 0
            bars.update(tasks[progress.schema], total=total, completed=completed, doing=progress.doing)

        yield show
