"""`shardwright ids`: decodes, encodes and generates ids."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

import typer

from shardwright.cli.help_text import format_help
from shardwright.cli.output import print_json, print_table
from shardwright.cli.runner import fail, open_directory, run
from shardwright.cli.settings import DirectoryOption, JsonOption, find_directory
from shardwright.errors import InvalidId, ShardwrightError
from shardwright.ids import LEGACY_LIMIT, Layout, decode_short, encode_short, lower_ids, schema_name
from shardwright.topology import ShardMap, locate_primary

T = TypeVar("T")
app = typer.Typer(no_args_is_help=True, help="Decode, encode and generate ids.")

EpochOption = Annotated[
    int | None,
    typer.Option("--epoch-ms", help="The epoch, when there is no directory; default: 2025-01-01."),
]


def decode(
    context: typer.Context,
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Numbers or short codes.")],
    directory: DirectoryOption = None,
    epoch_ms: EpochOption = None,
    is_json: JsonOption = False,
) -> None:
    """Show when and in which shard ids were generated; with a directory, also the server that owns the shard.

    A number with a leading zero is treated as a short code, which has 11 characters.

        shardwright ids decode 493921239040983041
        shardwright ids decode 0aB3dE5fG7h --json
    """
    shard_map, layout = _layout(context, directory, epoch_ms)
    shown = [_exit_on_error(lambda each=each: _describe(each, layout, shard_map)) for each in ids]
    if is_json:
        print_json(shown)
    else:
        print_table(list(shown[0]), [list(each.values()) for each in shown])


def encode(
    ids: Annotated[list[int], typer.Argument(metavar="ID...")],
    is_json: JsonOption = False,
) -> None:
    """Print the short codes of ids: 11 letters and digits that sort as the ids do.

    shardwright ids encode 493921239040983041
    """
    codes = {each: _exit_on_error(lambda each=each: encode_short(each)) for each in ids}
    if is_json:
        print_json(codes)
    else:
        for code in codes.values():
            typer.echo(code)


def at(
    context: typer.Context,
    moment: Annotated[
        str, typer.Argument(help="An ISO time such as 2026-05-01T12:00; UTC unless it has a zone.")
    ],
    directory: DirectoryOption = None,
    epoch_ms: EpochOption = None,
    is_json: JsonOption = False,
) -> None:
    """Print the smallest possible id of a time: everything created from then on has that id or a larger one.

    shardwright sql --shard 3 "SELECT count(*) FROM posts WHERE id >= $(shardwright ids at 2026-05-01)"
    """
    _, layout = _layout(context, directory, epoch_ms)
    try:
        parsed = datetime.fromisoformat(moment)
    except ValueError as error:
        raise typer.BadParameter(f"{moment!r} is not an ISO time such as 2026-05-01T12:00") from error
    when = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    bound = layout.min_id_at(when)
    if is_json:
        print_json({"time": when, "min_id": str(bound)})
    else:
        typer.echo(bound)


def new(
    context: typer.Context,
    shard: Annotated[int, typer.Option(min=0, max=8191, help="The shard that the ids belong to.")],
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=10_000)] = 1,
    directory: DirectoryOption = None,
) -> None:
    """Generate ids in a shard, for rows that you insert manually.

    shardwright ids new --shard 42 -n 3
    """

    async def work() -> list[int]:
        async with open_directory(context, directory) as found:
            server = await locate_primary((await found.load()).server_of(shard))
        return await _draw(server.dsn, shard, count)

    for each in run(work()):
        typer.echo(each)


def lower(
    context: typer.Context,
    shard: Annotated[int, typer.Option(min=0, max=8191, help="The shard whose clock was wrong once.")],
    directory: DirectoryOption = None,
) -> None:
    """Make a shard's ids go on at the clock again after a wrong clock carried them far ahead.

    Refused while rows use ids from the future: it names them. Stop tools that lease ids before.

    shardwright ids lower --shard 42
    """

    async def work() -> None:
        from shardwright.cli.connection import open_connection  # noqa: PLC0415 - the other commands need no database

        async with open_directory(context, directory) as found:
            shard_map = await found.load()
        server = await locate_primary(shard_map.server_of(shard))
        async with open_connection(server.dsn) as connection:
            await lower_ids(connection, shard, shard_map.layout)

    run(work())
    typer.echo(f"The ids of shard {shard} go on at the clock.")


async def _draw(dsn: str, shard: int, count: int) -> list[int]:
    from shardwright.cli.connection import open_connection  # noqa: PLC0415 - the other commands need no database

    async with open_connection(dsn) as connection:
        rows = await connection.fetch(f"SELECT {schema_name(shard)}.next_ids($1)", count)
        return [row[0] for row in rows]


def _layout(
    context: typer.Context, directory: str | None, epoch_ms: int | None
) -> tuple[ShardMap | None, Layout]:
    if epoch_ms is not None:
        return None, _exit_on_error(lambda: Layout(epoch_ms))
    if find_directory(context, directory) is None:
        return None, Layout()

    async def load() -> ShardMap:
        async with open_directory(context, directory) as found:
            return await found.load()

    shard_map = run(load())
    return shard_map, shard_map.layout


def _describe(text: str, layout: Layout, shard_map: ShardMap | None) -> dict[str, Any]:
    number = _read_id(text)
    is_legacy = number < LEGACY_LIMIT
    shard = layout.id_shard(number)
    found: dict[str, Any] = {
        "id": str(number),
        "short": encode_short(number),
        "time": None if is_legacy else layout.id_time(number),
        "shard": shard,
        "schema": schema_name(shard),
        "sequence": None if is_legacy else layout.id_sequence(number),
    }
    if shard_map is not None:
        found["server"] = shard_map.owners.get(shard)
    return found


def _read_id(text: str) -> int:
    if text.isascii() and text.isdigit() and (text == "0" or not text.startswith("0")):
        return int(text)
    try:
        return decode_short(text)
    except InvalidId as error:
        raise InvalidId(f"{text!r} is neither a number nor a short code of 11 letters and digits.") from error


def _exit_on_error(work: Callable[[], T]) -> T:
    try:
        return work()
    except ShardwrightError as error:
        fail(error)


app.command("decode", help=format_help(decode))(decode)
app.command("encode", help=format_help(encode))(encode)
app.command("at", help=format_help(at))(at)
app.command("new", help=format_help(new))(new)
app.command("lower", help=format_help(lower))(lower)
