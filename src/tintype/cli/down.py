"""`tintype down`: nothing of it runs any more."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tintype.base.settings import load_settings
from tintype.stack import Home, Outcome, plan_from, stop_running

_WORDS = {
    Outcome.STOPPED: "Stopped. The data stays in {home}",
    Outcome.CLEARED: "Stopped what an earlier run had left behind. The data stays in {home}",
    Outcome.NOTHING: "Nothing was running in {home}",
}


def down(home: Annotated[Path | None, typer.Option("--home", help="The data directory.")] = None) -> None:
    """Stop everything in order: the web first, the databases last. What is stored stays."""
    overrides = {"home": str(home.absolute())} if home else {}
    place = Home(plan_from(load_settings(overrides=overrides)).home)
    console = Console()
    with console.status("Stopping…"):
        outcome = asyncio.run(stop_running(place))
    console.print(_WORDS[outcome].format(home=place.root), highlight=False, markup=False, soft_wrap=True)
