"""`tintype down`: stops everything."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tintype.base.settings import load_settings
from tintype.stack import DataDirectory, StopOutcome, stack_plan, stop_running

_WORDS = {
    StopOutcome.STOPPED: "Stopped. The data stays in {home}",
    StopOutcome.CLEARED: "Stopped processes that an earlier run had left behind. The data stays in {home}",
    StopOutcome.NOTHING: "Nothing was running in {home}",
}


def down(home: Annotated[Path | None, typer.Option("--home", help="The data directory.")] = None) -> None:
    """Stop everything in order: the web server first, the databases last. The data stays."""
    overrides = {"home": str(home.absolute())} if home else {}
    directory = DataDirectory(stack_plan(load_settings(overrides=overrides)).home)
    console = Console()
    with console.status("Stopping…"):
        outcome = asyncio.run(stop_running(directory))
    console.print(_WORDS[outcome].format(home=directory.root), highlight=False, markup=False, soft_wrap=True)
