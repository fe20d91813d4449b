"""`tintype migrate`: registers servers, creates shards and applies migrations."""

import asyncio
import sys
from collections.abc import Mapping
from typing import Annotated

import typer
from asyncpg import InsufficientPrivilegeError, PostgresError
from rich.console import Console

from shardwright.errors import ShardsMoving, ShardwrightError
from tintype.base.errors import SettingsInvalid
from tintype.base.log import get_log, set_up_log
from tintype.base.settings import Settings
from tintype.cli.running_stack import running_settings
from tintype.schema import (
    REPLICA_WAIT_S,
    Applied,
    apply_schema,
    end_moves,
    ensure_database_roles,
    enter_replicas,
)

log = get_log("migrate")


def migrate(
    *,
    replicas: Annotated[
        bool,
        typer.Option(
            "--replicas", help="Only enter replicas into the shard map, and remove those that are gone."
        ),
    ] = False,
    finish_moves: Annotated[
        bool,
        typer.Option(
            "--finish-moves",
            help="First end moves of shards whose old copies are kept: they cannot be undone then.",
        ),
    ] = False,
    replica_wait_s: Annotated[
        float,
        typer.Option(
            "--replica-wait", min=0, help="Seconds that a new replica has to answer and to catch up."
        ),
    ] = REPLICA_WAIT_S,
) -> None:
    """Register the PostgreSQL servers, create missing shards and apply new migrations to all of them.

    Before that it brings the shard library's own SQL forward, which `tintype shards upgrade` does alone. Safe to repeat
    and to interrupt: it continues where it stopped. `tintype up` runs it before anything else. Signs in with the
    addresses of `postgres_migrator`; where `postgres_admin` is set, it creates the roles first.
    """
    settings = running_settings()
    set_up_log(settings, process="migrate")
    if replicas:
        _check_entered(asyncio.run(enter_replicas(settings, wait_s=replica_wait_s)))
        return
    report = asyncio.run(migrate_databases(settings, replica_wait_s, finish_moves=finish_moves))
    note = (
        log.warning if replica_wait_s else log.info
    )  # nobody has waited: `tintype up` adds them when they are ready
    for address, reason in report.replicas_left_out.items():
        note("replica.not_added", address=address, reason=reason)
    log.info(
        "schema.migrated",
        servers=report.servers,
        shards=report.shards,
        applied=report.applied,
        upgraded=report.upgraded,
    )


async def migrate_databases(settings: Settings, replica_wait_s: float, *, finish_moves: bool) -> Applied:
    """Create roles where a superuser is known, end moves, then bring all databases to this release."""
    if settings.postgres_admin:
        roles = await ensure_database_roles(settings)
        if roles.adopted:
            log.info("roles.adopted", schemas=roles.adopted)
    await _end_moves(settings, kept=finish_moves)
    try:
        console = Console(stderr=True) if sys.stderr.isatty() else None
        return await apply_schema(settings, console=console, replica_wait_s=replica_wait_s)
    except ShardsMoving as error:
        raise SettingsInvalid(
            f"{error}. Or run `tintype up --finish-moves` (`tintype migrate --finish-moves`), which ends all moves "
            "whose old copies are kept: they cannot be undone then."
        ) from error
    except InsufficientPrivilegeError as error:
        raise SettingsInvalid(
            f"This role may not change tables ({error}). Name the one that may in `postgres_migrator`, or create it "
            "with `tintype roles`."
        ) from error


async def _end_moves(settings: Settings, *, kept: bool) -> None:
    """End moves whose time is over, or on request all that keep old copies: shards wait for that with migrations."""
    if not (settings.postgres_admin or kept):
        return
    try:
        for move in await end_moves(settings, kept=kept):
            log.info("move.ended", move=move)
    except (ShardwrightError, PostgresError, OSError) as error:
        if kept:
            raise
        log.warning("moves.not_ended", error=str(error))  # the supervisor tries again


def _check_entered(left_out: Mapping[str, str]) -> None:
    if left_out:
        listed = "\n".join(f"  {address}: {reason}" for address, reason in left_out.items())
        raise SettingsInvalid(
            f"Not read from yet:\n{listed}\n"
            "`tintype doctor` says what each replica does; run this again when it follows."
        )
