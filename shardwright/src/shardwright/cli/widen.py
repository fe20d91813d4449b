"""`shardwright widen`: integer columns become bigint while they are used."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, cast

import typer
from rich.console import Console

from shardwright.cli.default_command import StartByDefault
from shardwright.cli.help_text import format_help
from shardwright.cli.output import print_json, print_message, print_table
from shardwright.cli.runner import open_directory, run
from shardwright.cli.settings import DirectoryOption, JsonOption
from shardwright.widen import ShardWidener, Widener, Widening, WidenOptions, widen_bar

_HELP = """Widen integer columns to bigint while they are used, with every column that refers to them.

    shardwright widen posts.id --database postgresql://…      # one database
    shardwright widen posts.id                                # every shard of the directory
    shardwright widen finish                                  # drop the old columns

New columns are added and filled beside the old ones, indexed and constrained; then old and new are exchanged in one
transaction of milliseconds. Until then `widen abort` removes everything. Whatever is interrupted, the same command
goes on where it stopped.
"""
MEBIBYTE = 2**20

app = typer.Typer(cls=StartByDefault, no_args_is_help=True, help=format_help(_HELP))

DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="DSN",
        help="One database, instead of the shards of a directory; not through a pooler.",
    ),
]
SchemaOption = Annotated[str, typer.Option("--schema", help="With --database: the schema of the tables.")]
ShardOption = Annotated[
    list[int] | None, typer.Option("--shard", help="Only this shard; repeat it for more.")
]


def start(  # noqa: PLR0917 - typer calls it by keyword
    context: typer.Context,
    columns: Annotated[list[str], typer.Argument(metavar="TABLE.COLUMN...")],
    directory: DirectoryOption = None,
    database: DatabaseOption = None,
    schema: SchemaOption = "public",
    shard: ShardOption = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Change nothing; say which columns belong together, and what is in the way."
        ),
    ] = False,
    no_swap: Annotated[
        bool, typer.Option("--no-swap", help="Prepare everything, and leave the exchange for `widen swap`.")
    ] = False,
    duty: Annotated[
        float, typer.Option("--duty", min=0.01, max=1.0, help="The share of time that filling rows may take.")
    ] = 0.5,
    max_lag_mb: Annotated[
        int, typer.Option("--max-lag-mb", min=1, help="Filling waits while a standby is further behind.")
    ] = 64,
    at_once: Annotated[int, typer.Option("--at-once", min=1, help="Shards at a time on each server.")] = 2,
    fire_triggers: Annotated[
        bool,
        typer.Option("--fire-triggers", help="Let the tables' own UPDATE triggers fire for filled rows."),
    ] = False,
    published: Annotated[
        bool, typer.Option("--published", help="Subscribers of the tables are ready for another column.")
    ] = False,
) -> None:
    """Widen these columns and all that refer to them.

    shardwright widen posts.id --check
    shardwright widen posts.id comments.id --no-swap
    """
    options = WidenOptions(
        duty=duty, max_lag_bytes=max_lag_mb * MEBIBYTE, fire_triggers=fire_triggers, published=published
    )
    access = _Access(context, directory, database, schema, shard, options, at_once)

    async def work(widener: Widener | ShardWidener) -> tuple[list[str], str]:
        found = [str(each) for each in await widener.plan(columns)] if check else []
        if not check:
            await widener.prepare(columns)
            if not no_swap:
                await widener.swap()
        return found, _locked(widener)

    found, locked = _run(access, work)
    if check:
        print_table(["widened together"], [[name] for name in found])
    elif no_swap:
        print_message(
            f"Everything is prepared. {locked} `shardwright widen swap` exchanges the columns, `abort` removes it."
        )
    else:
        print_message(f"The columns are bigint. {locked} `shardwright widen finish` drops the old ones.")


def _locked(widener: Widener | ShardWidener) -> str:
    return f"Tables were locked for {widener.longest_lock_ms:.0f} ms at most."


def _verb(name: str, doc: str, done: str) -> Callable[..., None]:
    def command(
        context: typer.Context,
        directory: DirectoryOption = None,
        database: DatabaseOption = None,
        schema: SchemaOption = "public",
        shard: ShardOption = None,
    ) -> None:
        async def work(widener: Widener | ShardWidener) -> str:
            await getattr(widener, name)()
            return _locked(widener)

        locked = _run(_Access(context, directory, database, schema, shard), work)
        print_message(f"{done} {locked}")

    command.__doc__ = doc
    return command


def status(  # noqa: PLR0917 - typer calls it by keyword
    context: typer.Context,
    directory: DirectoryOption = None,
    database: DatabaseOption = None,
    schema: SchemaOption = "public",
    shard: ShardOption = None,
    is_json: JsonOption = False,
) -> None:
    """Show what is being widened, and how far it is."""
    found = _run(_Access(context, directory, database, schema, shard), lambda widener: widener.status())
    by_schema = cast("dict[str, Widening | None]", found) if isinstance(found, dict) else {schema: found}
    rows = [(name, each) for name, each in sorted(by_schema.items()) if each is not None]
    if is_json:
        print_json({name: {"columns": each.asked, "step": each.step} for name, each in rows})
    elif rows:
        print_table(
            ["schema", "columns", "step", "since"],
            [[name, ", ".join(each.asked), each.step.value, each.stepped_at] for name, each in rows],
        )
    else:
        print_message("Nothing is being widened.")


app.command("start", help=format_help(start))(start)
app.command("status", help=format_help(status))(status)
for _name, _doc, _done in (
    ("swap", "Exchange old and new columns, after `--no-swap`.", "The columns are bigint."),
    ("abort", "Remove everything that was added, before the exchange.", "Nothing of it is left."),
    ("finish", "Drop the old columns, after the exchange.", "The old columns are gone."),
):
    app.command(_name, help=_doc)(_verb(_name, _doc, _done))


class _Access:
    """Where to widen."""

    def __init__(  # noqa: PLR0917 - the options of every command, in their order
        self,
        context: typer.Context,
        directory: str | None,
        database: str | None,
        schema: str,
        shards: list[int] | None,
        options: WidenOptions | None = None,
        at_once: int = 2,
    ) -> None:
        if database is not None and (directory is not None or shards):
            raise typer.BadParameter("give --database, or --directory and --shard, not both")
        self._context, self._directory, self._database, self._schema = context, directory, database, schema
        self._shards, self._options, self._at_once = shards, options, at_once

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Widener | ShardWidener]:
        with widen_bar(Console(stderr=True)) as progress:
            if self._database is not None:
                yield Widener(self._database, self._schema, options=self._options, progress=progress)
                return
            async with open_directory(self._context, self._directory) as directory:
                yield ShardWidener(
                    await directory.load(),
                    self._shards,
                    options=self._options,
                    at_once=self._at_once,
                    progress=progress,
                )


def _run(access: _Access, work: Callable[[Any], Awaitable[Any]]) -> Any:
    async def opened() -> Any:
        async with access.open() as widener:
            return await work(widener)

    return run(opened())
