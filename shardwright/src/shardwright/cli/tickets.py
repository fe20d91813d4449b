"""`shardwright tickets`: sets up ticket servers, changes them while they serve, draws numbers."""

import os
from collections.abc import Awaitable, Callable
from typing import Annotated

import typer

from shardwright.cli.help_text import format_help
from shardwright.cli.output import print_json, print_message, print_table
from shardwright.cli.runner import EXIT_FAILED, run
from shardwright.cli.settings import JsonOption, read_named
from shardwright.errors import ServerUnavailable
from shardwright.tickets import DEFAULT_SLOTS, Fleet, Setup, Tickets

_VARIABLE = "SHARDWRIGHT_TICKETS"
_HELP = f"""Short unique numbers from two or more servers, like Flickr's ticket servers.

Name the servers with --server, or in {_VARIABLE}, separated by spaces:

    export {_VARIABLE}="one=mysql://tickets@db1/tickets two=postgresql://db2/tickets"
"""

app = typer.Typer(no_args_is_help=True, help=format_help(_HELP))

ServersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--server", "-s", metavar="NAME=DSN", help=f"A ticket server; repeat it, or set {_VARIABLE}."
    ),
]
LostOption = Annotated[
    list[str] | None,
    typer.Option("--lost", metavar="NAME", help="A server that is gone for good and need not answer."),
]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The sequence, such as photos.")]


def found(
    server: ServersOption = None,
    slots: Annotated[
        int, typer.Option(help="How many servers the fleet can have before it must grow.")
    ] = DEFAULT_SLOTS,
) -> None:
    """Initialize the fleet: assign a slot to each server. With two servers and two slots they count odd and even."""
    fleet = Fleet(_servers(server))
    run(fleet.initialize(slots=slots))
    print_message(f"{len(fleet.servers)} ticket servers, {slots} slots.")


def create(
    name: NameArgument,
    server: ServersOption = None,
    start_above: Annotated[
        int, typer.Option(help="The largest number in use, when replacing a table's own counter.")
    ] = 0,
) -> None:
    """Create a sequence on every server, or raise one that exists.

    shardwright tickets create photos --start-above 1048576
    """
    run(Fleet(_servers(server)).create_sequence(name, start_above=start_above))


def draw(
    name: NameArgument,
    server: ServersOption = None,
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=100_000)] = 1,
) -> None:
    """Draw unique numbers."""

    async def work() -> list[int]:
        async with await Tickets.open(list(_servers(server).values())) as tickets:
            return await tickets.next_batch(name, count)

    for each in run(work()):
        typer.echo(each)


def add_server(
    newcomer: Annotated[str, typer.Argument(metavar="NAME=DSN", help="The new server.")],
    server: ServersOption = None,
    lost: LostOption = None,
) -> None:
    """Add a server in a free slot while the others serve; then add its address to your clients."""
    ((name, dsn),) = read_named([newcomer]).items()
    run(Fleet(_servers(server)).add_server(name, dsn, lost=lost or ()))
    print_message(f"{name} now serves tickets.")


def grow(
    slots: Annotated[int, typer.Argument(help="The new number of slots.")],
    server: ServersOption = None,
    lost: LostOption = None,
    start_above: Annotated[
        int, typer.Option(help="A number above every ticket that a lost server may have given.")
    ] = 0,
) -> None:
    """Add slots for more servers; new numbers are above every number given so far. Clients wait briefly and follow.

    After a crash, run it again with the same number: until then no client can draw.
    """
    run(Fleet(_servers(server)).grow(slots, lost=lost or (), start_above=start_above))
    print_message(f"{slots} slots.")


def status(server: ServersOption = None, is_json: JsonOption = False) -> None:
    """Show each server's slot and state; the exit code is 1 if one does not answer or is not open."""
    servers = _servers(server)

    async def work() -> dict[str, Setup | str]:
        return {
            name: await _find_setup(Fleet({name: dsn}).find_setups, name) for name, dsn in servers.items()
        }

    setups = run(work())
    rows = [_row(name, setup) for name, setup in setups.items()]
    columns = ["server", "state", "slot", "slots", "generation"]
    if is_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        print_table(columns, rows)
    if any(row[1] != "open" for row in rows):
        raise typer.Exit(EXIT_FAILED)


async def _find_setup(find: Callable[[], Awaitable[dict[str, Setup | None]]], name: str) -> Setup | str:
    try:
        return (await find())[name] or "not in a fleet"
    except ServerUnavailable as error:
        return str(error)


def _row(name: str, setup: Setup | str) -> list[object]:
    if isinstance(setup, str):
        return [name, setup, None, None, None]
    state = "open" if setup.is_open else f"growing to {setup.growing_to} slots"
    return [name, state, setup.slot, setup.slots, setup.generation]


def _servers(option: list[str] | None) -> dict[str, str]:
    found = read_named(option or os.environ.get(_VARIABLE, "").split())
    if not found:
        raise typer.BadParameter(f"no ticket server: give --server NAME=DSN, or set {_VARIABLE}")
    return found


app.command("found", help=format_help(found))(found)
app.command("create", help=format_help(create))(create)
app.command("next", help=format_help(draw))(draw)
app.command("add-server", help=format_help(add_server))(add_server)
app.command("grow", help=format_help(grow))(grow)
app.command("status", help=format_help(status))(status)
