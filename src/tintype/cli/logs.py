"""`tintype logs`: what the programs said, together or one by one."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tintype.base.errors import NotFound
from tintype.base.settings import load_settings
from tintype.stack import Home, Screen, follow, last_lines, names_of, plan_from


class NothingLogged(NotFound):
    """No program of that name has said anything here."""

    code = "nothing_logged"


def logs(
    names: Annotated[
        list[str] | None, typer.Argument(help="web, worker, postgres-1 …; none means all.")
    ] = None,
    *,
    follow_on: Annotated[
        bool, typer.Option("--follow", "-f", help="Stay, and show lines as they come.")
    ] = False,
    count: Annotated[int, typer.Option("--lines", "-n", min=0, help="How many of the last lines.")] = 100,
    home: Annotated[Path | None, typer.Option("--home", help="The data directory.")] = None,
) -> None:
    """Show the last lines of all programs, or of those named, in the order they were said."""
    overrides = {"home": str(home.absolute())} if home else {}
    folder = Home(plan_from(load_settings(overrides=overrides)).home).logs
    known = names_of(folder)
    unknown = [name for name in names or [] if name not in known]
    if unknown:
        raise NothingLogged(
            f"{', '.join(unknown)} said nothing here. These did: {', '.join(known) or 'nobody'}."
        )
    screen = Screen(Console())
    for line in last_lines(folder, names or known, count):
        screen.show(line)
    if follow_on:
        try:
            for line in follow(folder, names or []):
                screen.show(line)
        except KeyboardInterrupt:
            return  # that is how one stops looking
