"""Registers an installation's servers, creates its shards and applies all migrations."""

from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from shardwright.migrations import Migrator, progress_bar
from shardwright.topology import Directory
from tintype.base.settings import Settings, directory_dsn, server_dsns
from tintype.schema.paths import MIGRATIONS


@dataclass(frozen=True)
class Applied:
    """Result of `apply_schema`: the number of servers and shards, and of migrations applied by this run."""

    servers: int
    shards: int
    applied: int


async def apply_schema(settings: Settings, *, console: Console | None = None) -> Applied:
    """Register every server, create missing shards and apply missing migrations; safe to repeat and to interrupt."""
    dsns = server_dsns(settings)
    directory = await Directory.open(directory_dsn(settings), dsns=dsns)
    try:
        await directory.create()
        for name, dsn in dsns.items():
            # The password stays in the settings: the directory stores addresses without it.
            await directory.add_server(name, without_password(dsn))
        migrator = Migrator(directory, MIGRATIONS)
        await _ensure_shards(directory, migrator, settings.shard_count, console)
        with progress_bar(console=console or Console(quiet=True)) as progress:
            # `./tintype check` lints before a release; an operator cannot fix a finding.
            report = await migrator.apply(lint=False, progress=progress)
        shard_map = await directory.load()
        return Applied(
            len(shard_map.servers), len(shard_map.owners), sum(len(each.applied) for each in report.outcomes)
        )
    finally:
        await directory.close()


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
