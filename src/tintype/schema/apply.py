"""Registers an installation's servers, creates its shards, applies all migrations and installs all queries.

Before all of that it brings forward the SQL that the shard library keeps in the databases for itself.
"""

from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from shardwright.errors import SetupInvalid
from shardwright.migrations import Migrator, progress_bar, upgrade_bar, upgrade_library
from shardwright.routing import Queries, install_queries
from shardwright.topology import Directory
from tintype.base.settings import Settings, as_migrator, directory_dsn, server_dsns
from tintype.schema.paths import MIGRATIONS, QUERY_FILES


@dataclass(frozen=True)
class Applied:
    """Result of `apply_schema`: the number of servers and shards, and of migrations applied by this run."""

    servers: int
    shards: int
    applied: int
    upgraded: int = 0
    """How many databases and shards got newer SQL of the shard library."""


async def apply_schema(settings: Settings, *, console: Console | None = None) -> Applied:
    """Register every server, create missing shards and apply missing migrations; safe to repeat and to interrupt.

    Signs in as the migrator. First the library's own SQL is brought forward, as by `shardwright upgrade`. At the end
    every query of the application has its dispatch function, since the application's own role may not create one.
    """
    migrator_settings = as_migrator(settings)
    directory = await Directory.open(directory_dsn(migrator_settings), dsns=server_dsns(migrator_settings))
    try:
        await directory.create()
        with upgrade_bar(console or Console(quiet=True)) as progress:
            upgrade = await upgrade_library(directory, progress=progress)
        for name, dsn in server_dsns(settings).items():
            # The password stays in the settings: the directory stores addresses without it.
            await directory.add_server(name, without_password(dsn))
        migrator = Migrator(directory, MIGRATIONS)
        await _ensure_shards(directory, migrator, settings.shard_count, console)
        with progress_bar(console=console or Console(quiet=True)) as progress:
            # `./tintype check` lints before a release; an operator cannot fix a finding.
            report = await migrator.apply(lint=False, progress=progress)
        await _install_queries(directory)
        shard_map = await directory.load()
        return Applied(
            len(shard_map.servers),
            len(shard_map.owners),
            sum(len(each.applied) for each in report.outcomes),
            upgrade.upgraded,
        )
    finally:
        await directory.close()


async def _install_queries(directory: Directory) -> None:
    reports = await install_queries(directory, [Queries.load(path) for path in QUERY_FILES])
    for report in reports:
        for name, reason in report.failed.items():
            raise SetupInvalid(
                f"the query {name} does not fit the tables on server {report.server}: {reason}"
            )


def without_password(dsn: str) -> str:
    """The address without its password."""
    parts = urlsplit(dsn)
    credentials, at, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{credentials.partition(':')[0]}{at}{host}"))


async def _ensure_shards(
    directory: Directory, migrator: Migrator, total: int, console: Console | None
) -> None:
    columns = (TextColumn("creating shards"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console or Console(quiet=True), transient=True) as bar:
        task = bar.add_task("shards", total=total)

        def show(done: int, wanted: int) -> None:
            bar.update(task, completed=done, total=wanted)

        await directory.ensure_shards(total, prepare=migrator.prepare, progress=show)
