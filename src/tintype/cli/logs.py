"""`tintype logs`: logs of all programs, or of those named."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tintype.base.errors import NotFound
from tintype.base.settings import load_settings
from tintype.stack import DataDirectory, LogConsole, follow_logs, last_lines, log_names, stack_plan


class NothingLogged(NotFound):
    """No program of that name has written a log. Check the name; `tintype logs` without names shows all."""

    code = "nothing_logged"


def logs(
    names: Annotated[
        list[str] | None, typer.Argument(help="web, worker, postgres-1 …; default: all.")
    ] = None,
    *,
    follow_on: Annotated[bool, typer.Option("--follow", "-f", help="Keep printing new lines.")] = False,
    count: Annotated[int, typer.Option("--lines", "-n", min=0, help="How many lines to show.")] = 100,
    home: Annotated[Path | None, typer.Option("--home", help="The data directory.")] = None,
) -> None:
    """Show the last log lines of all programs, or of those named, in chronological order."""
    overrides = {"home": str(home.absolute())} if home else {}
    folder = DataDirectory(stack_plan(load_settings(overrides=overrides)).home).logs
    known = log_names(folder)
    unknown = [name for name in names or [] if name not in known]
    if unknown:
        raise NothingLogged(
            f"There is no log of {', '.join(unknown)}. Logs exist for: {', '.join(known) or 'no program'}."
        )
    console = LogConsole(Console())
    for line in last_lines(folder, names or known, count):
        console.show(line)
    if follow_on:
        try:
            for line in follow_logs(folder, names or []):
                console.show(line)
        except KeyboardInterrupt:
            return  # Ctrl-C ends following
