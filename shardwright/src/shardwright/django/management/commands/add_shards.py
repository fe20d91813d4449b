"""`manage.py add_shards`: creates shards and migrates them before any router can see them."""

import asyncio
from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error, connections

from shardwright.django.conf import get_maps, read_setting
from shardwright.django.pending_shards import adding_shard
from shardwright.django.shard_migrations import migrate_shard
from shardwright.errors import ShardwrightError
from shardwright.migrations import MigratorOptions
from shardwright.topology import Directory, fetch_value

if TYPE_CHECKING:
    from asyncpg import Connection


class Command(BaseCommand):
    """Create shards with every migration; safe to repeat with --total."""

    help = "Creates shards, applies every migration to them, and only then adds them to the shard map."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the options."""
        group = parser.add_mutually_exclusive_group(required=True)
        group.add_argument("count", type=int, nargs="?", help="How many shards to add.")
        group.add_argument("--total", type=int, help="Add as many as are missing to this number.")

    def handle(self, **options: Any) -> None:
        """Add the shards."""
        try:
            total = asyncio.run(self._add(options["count"], options["total"]))
        except (ShardwrightError, Error) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(self.style.SUCCESS(f"There are {total} shards."))

    async def _add(self, count: int | None, total: int | None) -> int:
        setting = read_setting()
        directory = await Directory.open(setting["DIRECTORY"], dsns=setting.get("DSNS") or {})
        current = await directory.load()

        async def prepare(conn: "Connection", number: int) -> None:
            name = await fetch_value(conn, "SELECT server_name FROM shardwright.identity")
            with adding_shard(number, current.servers[name]):
                await asyncio.to_thread(_migrate, number)

        try:
            if total is None:
                added = await directory.add_shards(count or 0, prepare=prepare)
            else:
                added = await directory.ensure_shards(total, prepare=prepare)
        finally:
            await directory.close()
        await asyncio.to_thread(get_maps().refresh)
        return len(added.owners)


def _migrate(number: int) -> None:
    try:
        migrate_shard(number, MigratorOptions(), lambda _what, _detail: None)
    finally:
        connections.close_all()
