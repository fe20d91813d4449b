"""`tintype demo`: a small invented community, for a first look around."""

import asyncio
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tintype.base.ids import AccountId
from tintype.base.log import set_up_log
from tintype.base.secret import read_or_make
from tintype.base.settings import Settings
from tintype.cli.demo_board import telling
from tintype.cli.running import running_settings
from tintype.demo import Demo, Life, Living, Person, Summary, all_people
from tintype.wiring import open_rooms

EVERYBODY = len(all_people())
STAGES = ("people", "follows", "photos", "likes", "faces", "comments", "stories")


def demo(
    *,
    people: Annotated[
        int, typer.Option("--people", min=1, max=EVERYBODY, help="How many people join.")
    ] = EVERYBODY,
    seed: Annotated[int, typer.Option("--seed", help="Another seed, other pictures and friendships.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
    newcomer: Annotated[
        int | None,
        typer.Option("--newcomer", hidden=True, help="Who asked for it, and follows some of them."),
    ] = None,
) -> None:
    """Fill this installation with invented people, their photos, follows, likes, comments and stories.

    Safe to repeat and to interrupt: it adds what is missing and leaves the rest alone.
    """
    settings = running_settings()
    set_up_log(msgspec.structs.replace(settings, log_level="warning"), process="demo")
    password = read_or_make(settings.home / "secrets" / "demo").decode()
    chosen = all_people()[:people]
    asked_by = None if newcomer is None else AccountId(newcomer)
    summary, life = asyncio.run(_settle(settings, chosen, password, seed, asked_by))
    login = next((each.username for each in chosen if each.username not in summary.skipped), "")
    if as_json:
        found = {
            **msgspec.to_builtins(summary),
            "life": life,
            "login": {"username": login, "password": password},
        }
        print(msgspec.json.encode(found).decode())
    else:
        _show(summary, life)
        if login:
            address = settings.public_url or f"http://{settings.http_host}:{settings.http_port}"
            print(f"Look around at {address} as {login} with the password {password}")


async def _settle(
    settings: Settings, people: tuple[Person, ...], password: str, seed: int, newcomer: AccountId | None
) -> tuple[Summary, Life]:
    columns = (TextColumn("{task.description:8}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    async with open_rooms(settings, process="demo") as rooms, telling(rooms) as tell:
        with Progress(*columns, console=Console(stderr=True)) as bars:
            stages = {name: bars.add_task(name, total=None) for name in STAGES}

            def show(stage: str, done: int, total: int) -> None:
                bars.update(stages[stage], completed=done, total=total)
                tell(stage, done, total)

            settler = Demo(rooms, password=password, seed=seed)
            summary = await settler.settle(people, show, newcomer=newcomer)
            there = [each for each in people if each.username not in summary.skipped]
            return summary, await Living(rooms, there, seed=seed).live(show)


def _show(summary: Summary, life: Life) -> None:
    console = Console(highlight=False)
    counts = {
        "people": summary.people,
        "follows": summary.follows,
        "photos": summary.posts,
        "likes": summary.likes,
    }
    told = [f"[bold]{count.total}[/] {what} ({count.new} new)" for what, count in counts.items()]
    told += [f"[bold]{life.comments}[/] comments", f"[bold]{life.stories}[/] stories"]
    console.print(", ".join(told))
    if summary.skipped:
        console.print(f"Left alone, because the name is somebody else's here: {', '.join(summary.skipped)}.")
