"""`shardwright sql`: runs one statement on one shard or on all of them, read-only unless --write is given."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import asyncpg
import typer

from shardwright.cli.connection import open_connection
from shardwright.cli.output import print_json, print_message, print_table
from shardwright.cli.runner import EXIT_FAILED, open_directory, run
from shardwright.cli.settings import DirectoryOption, JsonOption, get_directory
from shardwright.errors import ServerUnavailable
from shardwright.ids import schema_name
from shardwright.topology import ShardMap, locate_primary

# A backend caches 0.2 MB for each shard whose tables it touched: replacing connections keeps them small.
_SHARDS_PER_CONNECTION = 100


@dataclass
class Outcome:
    """Result of the statement: rows with their shard in the first column, status messages, and errors."""

    columns: list[str] = field(default_factory=list[str])
    rows: list[list[Any]] = field(default_factory=list[list[Any]])
    messages: list[str] = field(default_factory=list[str])
    failed: dict[str, str] = field(default_factory=dict[str, str])


def sql(  # noqa: PLR0917 - typer calls it by keyword
    context: typer.Context,
    statement: Annotated[
        str, typer.Argument(metavar="SQL", help="One statement; - reads it from standard input.")
    ],
    shard: Annotated[int | None, typer.Option(min=0, max=8191, help="On this shard.")] = None,
    key: Annotated[str | None, typer.Option(help="On the shard that holds this lookup key.")] = None,
    id_: Annotated[int | None, typer.Option("--id", help="On the shard that this id belongs to.")] = None,
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="On every shard, with its number in the first column.")
    ] = False,
    write: Annotated[
        bool, typer.Option("--write", help="Allow changes, in one transaction per shard.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask for confirmation with --everywhere --write.")
    ] = False,
    timeout_s: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", help="Statement timeout per shard.")
    ] = 60.0,
    directory: DirectoryOption = None,
    is_json: JsonOption = False,
) -> None:
    """Run a statement with search_path set to a shard; it is read-only unless you pass --write.

    shardwright sql --shard 42 "SELECT * FROM posts ORDER BY id DESC LIMIT 5"
    shardwright sql --id 493921239040983041 "SELECT * FROM posts WHERE id = 493921239040983041"
    shardwright sql --everywhere "SELECT count(*) FROM posts" --json
    """
    get_directory(context, directory)
    if sum([shard is not None, key is not None, id_ is not None, everywhere]) != 1:
        raise typer.BadParameter("give exactly one of: --shard N, --key TEXT, --id ID or --everywhere")
    text = sys.stdin.read() if statement == "-" else statement
    if everywhere and write and not yes:
        typer.confirm("Write to every shard?", abort=True, err=True)

    async def work() -> Outcome:
        async with open_directory(context, directory) as found:
            shard_map = await found.load()
        numbers = sorted(shard_map.owners) if everywhere else [_choose(shard_map, shard, key, id_)]
        return await _run_on(shard_map, numbers, text, write=write, timeout_s=timeout_s)

    outcome = run(work())
    _show(outcome, is_json=is_json, with_shard=everywhere)
    if outcome.failed:
        raise typer.Exit(EXIT_FAILED)


def _choose(shard_map: ShardMap, shard: int | None, key: str | None, id_: int | None) -> int:
    if shard is not None:
        return shard
    return shard_map.lookup_shard(key) if key is not None else shard_map.layout.id_shard(id_ or 0)


async def _run_on(
    shard_map: ShardMap, numbers: Sequence[int], text: str, *, write: bool, timeout_s: float
) -> Outcome:
    outcome = Outcome()
    by_server: dict[str, list[int]] = {}
    for number in numbers:
        by_server.setdefault(shard_map.server_of(number).name, []).append(number)

    async def on_server(name: str, own: Sequence[int]) -> None:
        for start in range(0, len(own), _SHARDS_PER_CONNECTION):
            some = own[start : start + _SHARDS_PER_CONNECTION]
            try:
                server = await locate_primary(shard_map.servers[name])
                async with open_connection(server.dsn, name=name) as connection:
                    for number in some:
                        await _run_one(connection, number, text, outcome, write=write, timeout_s=timeout_s)
            except (ServerUnavailable, OSError, asyncpg.InterfaceError) as error:
                outcome.failed[name] = str(error)
                return

    await asyncio.gather(*(on_server(name, own) for name, own in by_server.items()))
    outcome.rows.sort(key=lambda row: row[0])
    return outcome


async def _run_one(
    connection: Any, number: int, text: str, outcome: Outcome, *, write: bool, timeout_s: float
) -> None:
    schema = schema_name(number)
    try:
        async with connection.transaction(readonly=not write):
            await connection.execute(f"SET LOCAL search_path = {schema}, common, shardwright, public")
            await connection.execute(f"SET LOCAL statement_timeout = {int(timeout_s * 1000)}")
            # A prepared statement is a single statement: a COMMIT cannot be smuggled in before another one.
            prepared = await connection.prepare(text)
            rows = await prepared.fetch()
            outcome.columns = [each.name for each in prepared.get_attributes()] or outcome.columns
            outcome.rows += [[number, *row.values()] for row in rows]
            outcome.messages.append(f"{schema}: {prepared.get_statusmsg()}")
    except asyncpg.PostgresError as error:
        outcome.failed[schema] = _explain(error)


def _explain(error: asyncpg.PostgresError) -> str:
    if isinstance(error, asyncpg.ReadOnlySQLTransactionError):
        return f"{error}: pass --write to allow changes"
    return str(error)


def _show(outcome: Outcome, *, is_json: bool, with_shard: bool) -> None:
    columns = ["shard", *outcome.columns] if with_shard else outcome.columns
    rows = outcome.rows if with_shard else [row[1:] for row in outcome.rows]
    if is_json:
        objects = [dict(zip(columns, row, strict=True)) for row in rows]
        print_json({"rows": objects, "failed": outcome.failed})
        return
    if outcome.columns:
        print_table(columns, rows)
    else:
        print_message("\n".join(sorted(outcome.messages)))
    for where, error in sorted(outcome.failed.items()):
        print_message(f"error: {where}: {error}")
