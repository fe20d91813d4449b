"""`tintype dead`: the dead letter queue, jobs that failed too often."""

import asyncio
import json
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from tintype.cli.running_stack import open_jetstream, running_settings
from tintype.worker import DeadLetter, DeadLetters

dead_app = typer.Typer(
    help="Dead letters (jobs that failed too often): list, show, replay, drop.", no_args_is_help=True
)
Number = Annotated[int, typer.Argument(help="The dead letter's number, from `tintype dead list`.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


@dead_app.command("list")
def list_dead(
    *, limit: Annotated[int, typer.Option(help="How many at most.")] = 100, as_json: AsJson = False
) -> None:
    """List dead letters, oldest first."""
    letters = asyncio.run(_list(limit))
    if as_json:
        print(json.dumps([msgspec.to_builtins(letter) for letter in letters]))
        return
    table = Table("number", "handler", "event", "attempts", "died", "error")
    for each in letters:
        when = each.died_at.strftime("%Y-%m-%d %H:%M:%S") if each.died_at else ""
        table.add_row(str(each.number), each.handler, each.event, str(each.attempts), when, each.error)
    Console().print(table if letters else "No dead letters.")


@dead_app.command("show")
def show_dead(number: Number) -> None:
    """Print one dead letter with its payload, as JSON."""
    print(json.dumps(msgspec.to_builtins(asyncio.run(_get(number))), indent=2))


@dead_app.command("replay")
def replay_dead(
    numbers: Annotated[list[int] | None, typer.Argument(help="Numbers of the dead letters.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Replay all of them.")] = False,
) -> None:
    """Send dead letters to their handlers again, with the full number of attempts."""
    print(f"replayed {asyncio.run(_replay(numbers or [], everything=everything))}")


@dead_app.command("drop")
def drop_dead(number: Number) -> None:
    """Delete a dead letter for good."""
    asyncio.run(_drop(number))
    print(f"dropped {number}")


async def _list(limit: int) -> list[DeadLetter]:
    async with open_jetstream(running_settings()) as (js, names):
        return await DeadLetters(js, names).list(limit=limit)


async def _get(number: int) -> DeadLetter:
    async with open_jetstream(running_settings()) as (js, names):
        return await DeadLetters(js, names).get(number)


async def _replay(numbers: list[int], *, everything: bool) -> int:
    async with open_jetstream(running_settings()) as (js, names):
        dead = DeadLetters(js, names)
        chosen = [letter.number for letter in await dead.list(limit=1_000_000)] if everything else numbers
        for number in chosen:
            await dead.replay(number)
        return len(chosen)


async def _drop(number: int) -> None:
    async with open_jetstream(running_settings()) as (js, names):
        dead = DeadLetters(js, names)
        await dead.get(number)
        await dead.delete(number)
