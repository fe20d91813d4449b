"""Registers an installation's servers, creates its shards, applies all migrations and installs all queries.

Before all of that it brings forward the SQL that the shard library keeps in the databases for itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from shardwright.errors import SetupInvalid
from shardwright.migrations import Migrator, progress_bar, upgrade_bar, upgrade_library
from shardwright.routing import Queries, install_queries
from shardwright.topology import Directory
from tintype.base.router_addresses import router_dsns
from tintype.base.settings import Settings, as_migrator, directory_dsn, server_dsns
from tintype.schema.paths import MIGRATIONS, QUERY_FILES
from tintype.schema.replicas import WAIT_S, apply_replicas


@dataclass(frozen=True)
class Applied:
    """Result of `apply_schema`: the number of servers and shards, and of migrations applied by this run."""

    servers: int
    shards: int
    applied: int
    upgraded: int = 0
    """How many databases and shards got newer SQL of the shard library."""
    replicas_left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    """Addresses of replicas that could not be entered into the shard map yet, with the reason."""


async def apply_schema(
    settings: Settings, *, console: Console | None = None, replica_wait_s: float = WAIT_S
) -> Applied:
    """Register every server, create missing shards and apply missing migrations; safe to repeat and to interrupt.

    Signs in as the migrator. First the library's own SQL is brought forward, as by `shardwright upgrade`. At the end
    every query of the application has its dispatch function, since the application's own role may not create one.
    """
    migrator_settings = as_migrator(settings)
    directory = await Directory.open(directory_dsn(migrator_settings), dsns=router_dsns(migrator_settings))
    try:
        await directory.create()
        with upgrade_bar(console or Console(quiet=True)) as progress:
            upgrade = await upgrade_library(directory, progress=progress)
        removed = await directory.removed_servers()
        for name, dsn in server_dsns(settings).items():
            if name not in removed:  # by `tintype shards remove-server`; `add-server` brings it back
                # The password stays in the settings: the directory stores addresses without it.
                await directory.add_server(name, without_password(dsn))
        migrator = Migrator(directory, MIGRATIONS)
        await _ensure_shards(directory, migrator, settings.shard_count, console)
        with progress_bar(console=console or Console(quiet=True)) as progress:
            # `./tintype check` lints before a release; an operator cannot fix a finding.
            report = await migrator.apply(lint=False, progress=progress)
        await _install_queries(directory)
        left_out = await apply_replicas(directory, settings, wait_s=replica_wait_s)
        shard_map = await directory.load()
        return Applied(
            len(shard_map.servers),
            len(shard_map.owners),
            sum(len(each.applied) for each in report.outcomes),
            upgrade.upgraded,
            left_out,
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
