"""`tintype demo`: a small invented community, for a first look around."""

import asyncio
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tintype.base.log import set_up_log
from tintype.base.secret import read_or_make
from tintype.base.settings import Settings
from tintype.cli.running import running_settings
from tintype.demo import Demo, Person, Summary, all_people
from tintype.wiring import open_rooms

EVERYBODY = len(all_people())


def demo(
    *,
    people: Annotated[
        int, typer.Option("--people", min=1, max=EVERYBODY, help="How many people join.")
    ] = EVERYBODY,
    seed: Annotated[int, typer.Option("--seed", help="Another seed, other pictures and friendships.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Fill this installation with invented people, their photos, follows and likes.

    Safe to repeat and to interrupt: it adds what is missing and leaves the rest alone.
    """
    settings = running_settings()
    set_up_log(msgspec.structs.replace(settings, log_level="warning"), process="demo")
    password = read_or_make(settings.home / "secrets" / "demo").decode()
    chosen = all_people()[:people]
    summary = asyncio.run(_settle(settings, chosen, password, seed))
    login = next((each.username for each in chosen if each.username not in summary.skipped), "")
    if as_json:
        found = {**msgspec.to_builtins(summary), "login": {"username": login, "password": password}}
        print(msgspec.json.encode(found).decode())
    else:
        _show(summary)
        if login:
            address = settings.public_url or f"http://{settings.http_host}:{settings.http_port}"
            print(f"Look around at {address} as {login} with the password {password}")


async def _settle(settings: Settings, people: tuple[Person, ...], password: str, seed: int) -> Summary:
    columns = (TextColumn("{task.description:8}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    async with open_rooms(settings, process="demo") as rooms:
        with Progress(*columns, console=Console(stderr=True)) as bars:
            stages = {
                name: bars.add_task(name, total=None) for name in ("people", "follows", "photos", "likes")
            }

            def show(stage: str, done: int, total: int) -> None:
                bars.update(stages[stage], completed=done, total=total)

            return await Demo(rooms, password=password, seed=seed).settle(people, show)


def _show(summary: Summary) -> None:
    console = Console(highlight=False)
    counts = {
        "people": summary.people,
        "follows": summary.follows,
        "photos": summary.posts,
        "likes": summary.likes,
    }
    console.print(
        ", ".join(f"[bold]{count.total}[/] {what} ({count.new} new)" for what, count in counts.items())
    )
    if summary.skipped:
        console.print(f"Left alone, because the name is somebody else's here: {', '.join(summary.skipped)}.")
