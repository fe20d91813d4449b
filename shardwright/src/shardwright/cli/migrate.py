"""`shardwright migrate` and `shardwright schema`: bring every shard up to date, and print the resulting schema."""

from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from shardwright.cli.output import print_json, print_message, print_table
from shardwright.cli.runner import EXIT_FAILED, open_directory, run
from shardwright.cli.settings import (
    DirectoryOption,
    JsonOption,
    MigrationsOption,
    get_directory,
    get_migrations,
)
from shardwright.migrations import (
    Migration,
    MigrationFailed,
    Migrator,
    Report,
    Target,
    check_snapshot,
    progress_bar,
)


def migrate(  # noqa: PLR0917 - typer calls it by keyword
    context: typer.Context,
    directory: DirectoryOption = None,
    migrations: MigrationsOption = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Apply nothing; list pending migrations, and exit with 1 if there are any."
        ),
    ] = False,
    shard: Annotated[
        list[int] | None,
        typer.Option("--shard", help="Only this shard (and its server); repeat it for more."),
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Continue with other shards after a failure.")
    ] = False,
    no_lint: Annotated[
        bool, typer.Option("--no-lint", help="Apply migrations that the linter refuses.")
    ] = False,
    is_json: JsonOption = False,
) -> None:
    """Apply pending migrations to every shard of every server, in parallel; safe to repeat after a failure.

    Migrations are plain SQL: `migrations/shard/0001_posts.sql` runs in every shard, `migrations/server/0001_….sql`
    once on every server. There are no down migrations.

        shardwright migrate --check
        shardwright migrate --shard 0 && shardwright migrate
    """
    get_directory(context, directory)
    folder = get_migrations(context, migrations)

    async def list_pending() -> dict[Target, tuple[Migration, ...]]:
        async with open_directory(context, directory) as found:
            return await Migrator(found, folder).pending()

    async def apply() -> Report:
        async with open_directory(context, directory) as found:
            with progress_bar(Console(stderr=True)) as progress:
                return await Migrator(found, folder).apply(
                    shards=shard or None, lint=not no_lint, keep_going=keep_going, progress=progress
                )

    if check:
        _show_pending(run(list_pending()), is_json=is_json)
    elif is_json:
        _print_report(run(_even_if_failed(apply())))
    else:
        report = run(apply())
        print_message(
            f"{len(report.finished)} brought up to date." if report.finished else "Everything is up to date."
        )


def schema(
    context: typer.Context,
    directory: DirectoryOption = None,
    migrations: MigrationsOption = None,
    check: Annotated[
        Path | None,
        typer.Option("--check", metavar="FILE", help="Print nothing; exit with 1 if FILE differs."),
    ] = None,
) -> None:
    """Print the schema that results from all migrations, from a replay in a scratch database on the first server.

    shardwright schema > schema.sql
    shardwright schema --check schema.sql
    """
    get_directory(context, directory)
    folder = get_migrations(context, migrations)

    async def work() -> str | None:
        async with open_directory(context, directory) as found:
            migrator = Migrator(found, folder)
            if check is None:
                return await migrator.snapshot()
            shard_map = await migrator.map()
            return await check_snapshot(folder, shard_map.servers[min(shard_map.servers)].dsn, check)

    text = run(work())
    if text is not None:
        typer.echo(text, nl=False)


async def _even_if_failed(work: Coroutine[Any, Any, Report]) -> Report:
    """Return the report also after a failure, for JSON output."""
    try:
        return await work
    except MigrationFailed as failure:
        return failure.report


def _show_pending(pending: dict[Target, tuple[Migration, ...]], *, is_json: bool) -> None:
    if is_json:
        print_json({str(target): [str(each) for each in missing] for target, missing in pending.items()})
    elif pending:
        rows = [
            [str(target), ", ".join(str(each) for each in missing)] for target, missing in pending.items()
        ]
        print_table(["target", "pending"], rows)
    else:
        print_message("Everything is up to date.")
    if pending:
        raise typer.Exit(EXIT_FAILED)


def _print_report(report: Report) -> None:
    print_json(
        {
            "finished": {str(each.target): each.applied for each in report.finished},
            "failed": {str(each.target): each.error for each in report.failed},
            "not_started": [str(each) for each in report.not_started],
        }
    )
    if report.failed or report.not_started:
        raise typer.Exit(EXIT_FAILED)
