"""A progress bar for the command line: step, rows and lag."""

from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from shardwright.adopt.models import Adoption, AdoptProgress, OnProgress, OnStep, Phase


@contextmanager
def adopt_bar(console: Console | None = None) -> Generator[tuple[OnProgress, OnStep]]:
    """Shows an adoption while the block runs; pass what it yields as `progress` and `on_step`."""
    columns = (
        TextColumn("[progress.description]{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[detail]}"),
    )
    with Bars(*columns, console=console, transient=False) as bars:
        task = bars.add_task("adoption", total=None, detail="")

        def show(progress: AdoptProgress) -> None:
            lag = "" if progress.lag_bytes is None else f", lag {decimal(progress.lag_bytes)}"
            total = "" if progress.rows_total is None else f"/{progress.rows_total:,}"
            bars.update(
                task,
                total=progress.rows_total,
                completed=progress.rows if progress.rows_total else 0,
                detail=f"{progress.doing}: {progress.rows:,}{total} rows{lag}",
            )

        def step(adoption: Adoption, phase: Phase) -> None:
            if phase == "begin":
                bars.update(task, description=f"{adoption}: {adoption.step}", total=None, detail="")

        yield show, step
