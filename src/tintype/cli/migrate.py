"""`tintype migrate`: registers servers, creates shards and applies migrations."""

import asyncio
import sys

from asyncpg import InsufficientPrivilegeError
from rich.console import Console

from tintype.base.errors import SettingsInvalid
from tintype.base.log import get_log, set_up_log
from tintype.base.settings import Settings
from tintype.cli.running_stack import running_settings
from tintype.schema import Applied, apply_schema, ensure_database_roles

log = get_log("migrate")


def migrate() -> None:
    """Register the PostgreSQL servers, create missing shards and apply new migrations to all of them.

    Before that it brings the shard library's own SQL forward, which `tintype shards upgrade` does alone. Safe to repeat
    and to interrupt: it continues where it stopped. `tintype up` runs it before anything else. Signs in with the
    addresses of `postgres_migrator`; where `postgres_admin` is set, it creates the roles first.
    """
    settings = running_settings()
    set_up_log(settings, process="migrate")
    report = asyncio.run(_migrate(settings))
    log.info(
        "schema.migrated",
        servers=report.servers,
        shards=report.shards,
        applied=report.applied,
        upgraded=report.upgraded,
    )


async def _migrate(settings: Settings) -> Applied:
    if settings.postgres_admin:
        roles = await ensure_database_roles(settings)
        if roles.adopted:
            log.info("roles.adopted", schemas=roles.adopted)
    try:
        return await apply_schema(settings, console=Console(stderr=True) if sys.stderr.isatty() else None)
    except InsufficientPrivilegeError as error:
        raise SettingsInvalid(
            f"This role may not change tables ({error}). Name the one that may in `postgres_migrator`, or create it "
            "with `tintype roles`."
        ) from error
