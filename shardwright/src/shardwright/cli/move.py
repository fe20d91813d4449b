"""`shardwright move`: moves shards to another server while they are used."""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from shardwright.cli.help_text import format_help
from shardwright.cli.output import print_json, print_message, print_table
from shardwright.cli.runner import open_directory, run
from shardwright.cli.settings import DirectoryOption, JsonOption, get_directory, host_settings, read_named
from shardwright.ids import MAX_SHARDS
from shardwright.moves import Leftover, Move, Mover, Step, drop_leftovers, find_leftovers, move_bar
from shardwright.topology import Directory

_HELP = """Move shards to another server while they are used, and undo or end such moves.

    shardwright move s0042 s0043 --to b
    shardwright move status
    shardwright move back 7
    shardwright move finish 7

Rows are copied by PostgreSQL's logical replication. When the new server has caught up, writers wait for a fraction of
a second and go on there. The old copy then follows the new one, so that `move back` loses nothing, until `move finish`
drops it. Every step is journalled in the directory: whatever is interrupted, `move resume` goes on.
"""
_SHOWN = 6
_SHARD = re.compile(r"s?(\d{1,4})(?:-s?(\d{1,4}))?")


class _StartByDefault(TyperGroup):
    """Treats `move s0042 --to b` as `move start s0042 --to b`."""

    def parse_args(
        self, ctx: Any, args: list[str]
    ) -> list[str]:  # a class of click, or of typer's own copy of it
        """Add the command that may be left out."""
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = ["start", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=_StartByDefault, no_args_is_help=True, help=format_help(_HELP))

MoveArgument = Annotated[int, typer.Argument(metavar="MOVE", help="Its number in `shardwright move status`.")]
ServerOption = Annotated[
    list[str] | None,
    typer.Option(
        "--server",
        "-s",
        metavar="NAME=DSN",
        help="The address of a superuser on this server, where the map's is of another role; repeat it.",
    ),
]
LinkOption = Annotated[
    list[str] | None,
    typer.Option(
        "--link",
        metavar="NAME=DSN",
        help="The address by which other servers reach this one, where it differs from the map's.",
    ),
]


def start(  # noqa: PLR0917 - typer calls it by keyword
    context: typer.Context,
    shards: Annotated[
        list[str], typer.Argument(metavar="SHARD...", help="Shards of one server: s0042, 42, or 40-47.")
    ],
    to: Annotated[str, typer.Option("--to", metavar="SERVER", help="The server that will own them.")],
    directory: DirectoryOption = None,
    server: ServerOption = None,
    link: LinkOption = None,
    finish: Annotated[
        bool, typer.Option("--finish", help="Drop the old copy at once: the move cannot be undone.")
    ] = False,
) -> None:
    """Move shards of one server to another; they move together, and share the decoding of the server's WAL.

    Signs in to both servers as a superuser, directly and not through a pooler. Both need wal_level = logical.

        shardwright move s0042 s0043 --to b
        shardwright move 40-47 --to b --finish
    """
    numbers = read_shards(shards)

    async def work(mover: Mover) -> Move:
        move = await mover.start(numbers, to)
        return await mover.finish(move.id) if finish else move

    _run(_Access(context, directory, server, link), work)


def resume(
    context: typer.Context,
    move: MoveArgument,
    directory: DirectoryOption = None,
    server: ServerOption = None,
    link: LinkOption = None,
) -> None:
    """Go on with a move that was interrupted, whatever it was doing."""
    _run(_Access(context, directory, server, link), lambda mover: mover.resume(move))


def abort(
    context: typer.Context,
    move: MoveArgument,
    directory: DirectoryOption = None,
    server: ServerOption = None,
    link: LinkOption = None,
) -> None:
    """Undo a move whose new server does not own the shards yet; nothing of it is left there."""
    _run(_Access(context, directory, server, link), lambda mover: mover.abort(move))


def back(
    context: typer.Context,
    move: MoveArgument,
    directory: DirectoryOption = None,
    server: ServerOption = None,
    link: LinkOption = None,
) -> None:
    """Move shards back to where they were, with everything that was written since."""
    _run(_Access(context, directory, server, link), lambda mover: mover.back(move))


def finish(
    context: typer.Context,
    move: MoveArgument,
    directory: DirectoryOption = None,
    server: ServerOption = None,
    link: LinkOption = None,
) -> None:
    """End a move: drop the old copies, slots and publications. From then on it cannot be undone."""
    _run(_Access(context, directory, server, link), lambda mover: mover.finish(move))


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
            [move.id, _shown(move), f"{move.source} → {move.target}", str(move.step), move.stepped_at]
            for move in moves
        ]
        print_table(["move", "shards", "servers", "step", "since"], rows)
    else:
        print_message("No shard is being moved.")


def sweep(
    context: typer.Context,
    directory: DirectoryOption = None,
    server: ServerOption = None,
    drop: Annotated[bool, typer.Option("--drop", help="Drop what is found.")] = False,
    is_json: JsonOption = False,
) -> None:
    """Find slots, publications, subscriptions and old copies on servers that no move accounts for.

    A slot that nobody reads keeps its server's WAL for ever. A copy that accepts writes is never dropped.
    """
    access = _Access(context, directory, server, None)

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


for _command in (start, status, resume, abort, back, finish, sweep):
    app.command(_command.__name__, help=format_help(_command))(_command)


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


class _Access:
    """The directory and the addresses that a command was given."""

    def __init__(
        self, context: typer.Context, directory: str | None, server: list[str] | None, link: list[str] | None
    ) -> None:
        self._directory = get_directory(context, directory)
        self._dsns = {**host_settings(context).dsns, **read_named(server or [])}
        self.addresses = read_named(link or [])

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Directory]:
        """The directory, open for the duration of the block."""
        directory = await Directory.open(self._directory, dsns=self._dsns)
        try:
            yield directory
        finally:
            await directory.close()


def _run(access: _Access, work: Callable[[Mover], Awaitable[Move]]) -> None:
    async def with_bar() -> Move:
        async with access.open() as found:
            with move_bar(Console(stderr=True)) as (progress, on_step):
                return await work(
                    Mover(found, addresses=access.addresses, progress=progress, on_step=on_step)
                )

    print_message(_result(run(with_bar())))


def _result(move: Move) -> str:
    where = _shown(move)
    if move.step is Step.DONE:
        return f"Move {move.id} has ended: server {move.target} owns {where}."
    if move.step is Step.ABORTED:
        return f"Move {move.id} was undone: server {move.source} owns {where}."
    rows = move.details.get("verified_rows")
    equal = (
        f"{rows:,} rows were compared and are equal. "
        if rows is not None
        else "The copies were not compared: the command was interrupted after the owner had changed. "
    )
    return (
        f"Server {move.target} owns {where}. {equal}Server {move.source} follows it: end the move with "
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
        "details": dict(move.details),
    }
