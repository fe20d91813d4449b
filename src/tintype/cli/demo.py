"""`tintype demo`: fills the installation with generated people and photos, to try it out."""

import asyncio
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tintype.base.ids import AccountId
from tintype.base.log import set_up_log
from tintype.base.secret_key import read_or_create
from tintype.base.settings import Settings
from tintype.cli.demo_progress import publish_progress
from tintype.cli.running_stack import running_settings
from tintype.demo import ActivitySummary, Demo, Person, Summary, load_people
from tintype.wiring import open_rooms

EVERYBODY = len(load_people())
STAGES = ("people", "follows", "photos", "likes", "faces", "comments", "stories")


def demo(
    *,
    people: Annotated[
        int, typer.Option("--people", min=1, max=EVERYBODY, help="How many people to create.")
    ] = EVERYBODY,
    seed: Annotated[
        int, typer.Option("--seed", help="Random seed: another seed makes other photos and follows.")
    ] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
    newcomer: Annotated[
        int | None,
        typer.Option(
            "--newcomer", hidden=True, help="Account that started the demo and follows some of its people."
        ),
    ] = None,
) -> None:
    """Fill this installation with generated people, their photos, follows, likes, comments and stories.

    Safe to repeat and to interrupt: it adds what is missing and changes nothing else.
    """
    settings = running_settings()
    set_up_log(msgspec.structs.replace(settings, log_level="warning"), process="demo")
    password = read_or_create(settings.home / "secrets" / "demo").decode()
    chosen = load_people()[:people]
    asked_by = None if newcomer is None else AccountId(newcomer)
    summary, life = asyncio.run(_fill(settings, chosen, password, seed, asked_by))
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
            print(f"Open {address} and log in as {login} with the password {password}")


async def _fill(
    settings: Settings, people: tuple[Person, ...], password: str, seed: int, newcomer: AccountId | None
) -> tuple[Summary, ActivitySummary]:
    columns = (TextColumn("{task.description:8}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    async with open_rooms(settings, process="demo") as rooms, publish_progress(rooms) as report:
        with Progress(*columns, console=Console(stderr=True)) as bars:
            stages = {name: bars.add_task(name, total=None) for name in STAGES}

            def show(stage: str, done: int, total: int) -> None:
                bars.update(stages[stage], completed=done, total=total)
                report(stage, done, total)

            community = Demo(rooms, password=password, seed=seed)
            summary = await community.populate(people, show, newcomer=newcomer)
            signed_up = [each for each in people if each.username not in summary.skipped]
            return summary, await community.add_activity(signed_up, show)


def _show(summary: Summary, life: ActivitySummary) -> None:
    console = Console(highlight=False)
    counts = {
        "people": summary.people,
        "follows": summary.follows,
        "photos": summary.posts,
        "likes": summary.likes,
    }
    parts = [f"[bold]{count.total}[/] {what} ({count.new} new)" for what, count in counts.items()]
    parts += [f"[bold]{life.comments}[/] comments", f"[bold]{life.stories}[/] stories"]
    console.print(", ".join(parts))
    if summary.skipped:
        console.print(
            f"Skipped, because the username belongs to somebody else: {', '.join(summary.skipped)}."
        )
