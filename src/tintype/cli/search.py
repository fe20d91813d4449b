"""`tintype search`: rebuilds the search index."""

import asyncio
import json
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from tintype.base.log import set_up_log
from tintype.base.settings import Settings
from tintype.cli.running_stack import running_settings
from tintype.wiring import open_rooms

search_app = typer.Typer(help="Manage the search index.", no_args_is_help=True)


@search_app.callback()
def search() -> None:
    """Manage the search index, which is updated from events by itself."""


@search_app.command()
def rebuild(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False
) -> None:
    """Rebuild the search index from accounts, posts and places, without downtime.

    Safe to repeat and to interrupt: nothing is emptied first, and what belongs to nothing is swept out at the end.
    """
    settings = running_settings()
    set_up_log(msgspec.structs.replace(settings, log_level="warning"), process="search")
    done = asyncio.run(_rebuild(settings))
    print(json.dumps(done) if as_json else ", ".join(f"{count} {what}" for what, count in done.items()))


async def _rebuild(settings: Settings) -> dict[str, int]:
    columns = (TextColumn("{task.description:12}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    async with open_rooms(settings, process="search") as rooms:
        with Progress(*columns, console=Console(stderr=True)) as bars:
            tasks: dict[str, TaskID] = {}

            def show(stage: str, done: int, total: int) -> None:
                if stage not in tasks:
                    tasks[stage] = bars.add_task(stage, total=total)
                bars.update(tasks[stage], completed=done)

            return await rooms.search.rebuild(show)
