"""`shardwright move`: moves shards to another server while they are used."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console

from shardwright.cli.default_command import StartByDefault
from shardwright.cli.help_text import format_help
from shardwright.cli.output import print_json, print_message, print_table
from shardwright.cli.quantities import read_duration
from shardwright.cli.runner import EXPECTED, open_directory, run
from shardwright.cli.settings import DirectoryOption, JsonOption, get_directory
from shardwright.cli.shared_options import with_options
from shardwright.cli.superuser import Access, CopyAccess
from shardwright.ids import MAX_SHARDS
from shardwright.moves import (
    Leftover,
    Move,
    MoveOptions,
    Mover,
    Step,
    drop_leftovers,
    find_leftovers,
    move_bar,
)

_HELP = """Move shards to another server while they are used, and undo or end such moves.

    shardwright move s0042 s0043 --to b
    shardwright move status
    shardwright move back 7
    shardwright move finish 7

Rows are copied, and changes follow by PostgreSQL's logical replication. When the new server has caught up, writers wait
for a fraction of a second and go on there. The old copy then follows the new one, so that `move back` loses nothing,
until `move finish` drops it. Every step is journalled in the directory: whatever is interrupted, `move resume` goes on.
"""
_SHOWN = 6
_SHARD = re.compile(r"s?(\d{1,4})(?:-s?(\d{1,4}))?")


app = typer.Typer(cls=StartByDefault, no_args_is_help=True, help=format_help(_HELP))

MoveArgument = Annotated[int, typer.Argument(metavar="MOVE", help="Its number in `move status`.")]


def start(
    access: CopyAccess,
    shards: Annotated[
        list[str], typer.Argument(metavar="SHARD...", help="Shards of one server: s0042, 42, or 40-47.")
    ],
    to: Annotated[str, typer.Option("--to", metavar="SERVER", help="The server that will own them.")],
    keep: Annotated[
        str | None,
        typer.Option(
            "--keep",
            metavar="TIME",
            help="How long old copies follow (24h, 7d, 0) before `move tend` drops them; until `move finish`.",
        ),
    ] = None,
    finish: Annotated[
        bool, typer.Option("--finish", help="Drop the old copy at once: the move cannot be undone.")
    ] = False,
) -> None:
    """Move shards of one server to another; they move together, and share the decoding of the server's WAL.

    Signs in to both servers as a superuser, directly and not through a pooler. Both need wal_level = logical.

        shardwright move s0042 s0043 --to b
        shardwright move 40-47 --to b --keep 24h --rate 50MB
    """
    numbers = read_shards(shards)
    keep_s = None if keep is None else read_duration(keep)

    async def work(mover: Mover) -> Move:
        move = await mover.start(numbers, to, keep_s=keep_s)
        return await mover.finish(move.id) if finish else move

    _run(access, work, access.options())


def resume(access: CopyAccess, move: MoveArgument) -> None:
    """Go on with a move that was interrupted, whatever it was doing."""
    _run(access, lambda mover: mover.resume(move), access.options())


def abort(
    access: Access,
    move: MoveArgument,
    lost: Annotated[
        bool, typer.Option("--lost", help="The new server is gone for good: do not ask it.")
    ] = False,
) -> None:
    """Undo a move whose new server does not own the shards yet; nothing of it is left there."""
    _run(access, lambda mover: mover.abort(move, is_lost=lost))


def back(access: Access, move: MoveArgument) -> None:
    """Move shards back to where they were, with everything that was written since."""
    _run(access, lambda mover: mover.back(move))


def finish(
    access: Access,
    move: MoveArgument,
    lost: Annotated[
        bool, typer.Option("--lost", help="The server with the old copies is gone for good: do not ask it.")
    ] = False,
    unequal: Annotated[
        bool,
        typer.Option("--unequal", help="Also after a comparison that failed: the new owner's rows count."),
    ] = False,
) -> None:
    """End a move: drop the old copies, slots and publications. From then on it cannot be undone."""
    _run(access, lambda mover: mover.finish(move, is_lost=lost, is_unequal=unequal))


def tend(
    access: Access,
    every: Annotated[
        str | None, typer.Option("--every", metavar="TIME", help="Go on, and do so every 60s or so.")
    ] = None,
) -> None:
    """Look after old copies that follow: drop those whose time (`--keep`) is over, give the others new partitions.

    For a job that runs every few minutes, or with `--every` as a service. Without it, changes of a partition that was
    created after a move wait at its old copy, and WAL with them.

        shardwright move tend --every 60s
    """
    pause_s = None if every is None else read_duration(every)

    async def work() -> None:
        async with access.open() as found:
            while True:
                try:
                    for move in await access.mover(found).tend():
                        print_message(_result(move))
                except EXPECTED as error:
                    if pause_s is None:
                        raise
                    print_message(f"error: {error}")  # a service goes on: a server may be back the next time
                if pause_s is None:
                    return
                await asyncio.sleep(pause_s)

    run(work())


def status(
    context: typer.Context,
    directory: DirectoryOption = None,
    show_all: Annotated[bool, typer.Option("--all", help="Also moves that have ended.")] = False,
    is_json: JsonOption = False,
) -> None:
    """List the moves that have not ended, with the step each is at and since when."""
    get_directory(context, directory)

    async def work() -> list[Move]:
        async with open_directory(context, directory) as found:
            return await Mover(found).moves(ended=show_all)

    moves = run(work())
    if is_json:
        print_json([_to_json(move) for move in moves])
    elif moves:
        rows = [
            [
                move.id,
                _shown(move),
                f"{move.source} → {move.target}",
                str(move.step),
                move.stepped_at,
                move.due_at or "",
            ]
            for move in moves
        ]
        print_table(["move", "shards", "servers", "step", "since", "until"], rows)
    else:
        print_message("No shard is being moved.")


def sweep(
    access: Access,
    drop: Annotated[bool, typer.Option("--drop", help="Drop what is found.")] = False,
    is_json: JsonOption = False,
) -> None:
    """Find slots, publications, subscriptions and old copies on servers that no move accounts for.

    A slot that nobody reads keeps its server's WAL for ever. A copy that accepts writes is never dropped.
    """

    async def work() -> list[Leftover]:
        async with access.open() as found:
            leftovers = await find_leftovers(found)
            if drop:
                await drop_leftovers(found, leftovers)
            return leftovers

    leftovers = run(work())
    if is_json:
        print_json([{"server": each.server, "kind": each.kind, "name": each.name} for each in leftovers])
    elif leftovers:
        print_table(["server", "kind", "name"], [[each.server, each.kind, each.name] for each in leftovers])
        print_message("Dropped." if drop else "Nothing was dropped: add --drop.")
    else:
        print_message("Nothing is left over.")


for _command in (start, resume):
    app.command(_command.__name__, help=format_help(_command))(with_options(CopyAccess)(_command))
for _command in (abort, back, finish, tend, sweep):
    app.command(_command.__name__, help=format_help(_command))(with_options(Access)(_command))
app.command("status", help=format_help(status))(status)


def read_shards(values: Sequence[str]) -> list[int]:
    """Parse s0042, 42 and 40-47 into shard numbers."""
    numbers: list[int] = []
    for value in values:
        found = _SHARD.fullmatch(value)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if first > last or last >= MAX_SHARDS:
            raise typer.BadParameter(f"{value!r} is not a shard: write s0042, 42, or 40-47 for several")
        numbers += range(first, last + 1)
    return numbers


def _run(
    access: Access, work: Callable[[Mover], Awaitable[Move]], options: MoveOptions | None = None
) -> None:
    async def with_bar() -> Move:
        async with access.open() as found:
            with move_bar(Console(stderr=True)) as (progress, on_step):
                return await work(access.mover(found, options, progress, on_step))

    print_message(_result(run(with_bar())))


def _result(move: Move) -> str:
    where = _shown(move)
    if move.step is Step.DONE:
        return f"Move {move.id} has ended: server {move.target} owns {where}."
    if move.step is Step.ABORTED:
        return f"Move {move.id} was undone: server {move.source} owns {where}."
    rows = move.details.get("verified_rows")
    equal = f"{rows:,} rows were compared and are equal. " if rows is not None else ""
    until = "" if move.due_at is None else f" until {move.due_at:%Y-%m-%d %H:%M} UTC"
    return (
        f"Server {move.target} owns {where}. {equal}Server {move.source} follows it{until}: end the move with "
        f"`shardwright move finish {move.id}`, or undo it with `shardwright move back {move.id}`."
    )


def _shown(move: Move) -> str:
    more = len(move.schemas) - _SHOWN
    return ", ".join(move.schemas[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _to_json(move: Move) -> dict[str, Any]:
    return {
        "move": move.id,
        "shards": list(move.schemas),
        "source": move.source,
        "target": move.target,
        "step": str(move.step),
        "turn": move.turn,
        "started_at": move.started_at,
        "stepped_at": move.stepped_at,
        "ended_at": move.ended_at,
        "due_at": move.due_at,
        "details": dict(move.details),
    }
