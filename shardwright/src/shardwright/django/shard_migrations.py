"""Django's migrations on one shard: under a lock, with short waits for table locks, guarded afterwards."""

import time
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from functools import cache
from typing import Any

from django.core.management.sql import emit_post_migrate_signal, emit_pre_migrate_signal
from django.db import OperationalError, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from shardwright.django.conf import sharded_labels
from shardwright.errors import MigrationRefused, SetupInvalid
from shardwright.ids import schema_name
from shardwright.migrations import LOCK_CLASS, MigratorOptions
from shardwright.migrations.backoff import jittered_pause_s
from shardwright.topology import guard_tables_sql

Key = tuple[str, str]  # app label, migration name
OnStep = Callable[[str, str], None]  # what happened ("applied", "waited"), and to which migration or why

_RETRYABLE = {
    "55P03",
    "40P01",
}  # lock_not_available, deadlock_detected: rolled back, the next attempt may succeed


@cache
def wanted_migrations() -> frozenset[Key]:
    """Every migration that a shard must have, with those that they depend on."""
    loader = MigrationLoader(None)
    if conflicts := loader.detect_conflicts():
        raise MigrationRefused(
            f"conflicting migrations in {', '.join(sorted(conflicts))}: makemigrations --merge"
        )
    graph = loader.graph
    return frozenset(key for leaf in _leaves(graph) for key in graph.forwards_plan(leaf))


def missing_migrations(alias: str) -> list[Key]:
    """The migrations that a shard does not have yet; nothing is created to find out."""
    applied = MigrationRecorder(connections[alias]).applied_migrations()
    if wanted_migrations() <= applied.keys():
        return []
    executor = MigrationExecutor(connections[alias])
    return [
        (each.app_label, each.name) for each, _ in executor.migration_plan(_leaves(executor.loader.graph))
    ]


def migrate_shard(number: int, options: MigratorOptions, on_step: OnStep) -> None:
    """Apply every missing migration to a shard, and attach guards to tables that lack them."""
    alias = schema_name(number)
    with _locked(alias, number, options, on_step):
        for attempt in range(1, options.attempts + 1):
            try:
                _apply_missing(alias, on_step)
                break
            except OperationalError as error:
                if _sqlstate(error) not in _RETRYABLE or attempt == options.attempts:
                    raise
                on_step("waited", str(error).strip())
                time.sleep(jittered_pause_s(attempt))
        with connections[alias].cursor() as cursor:
            cursor.execute(guard_tables_sql(number))


def _apply_missing(alias: str, on_step: OnStep) -> None:
    if not missing_migrations(alias):
        return

    def report(action: str, migration: Any = None, fake: bool = False) -> None:  # noqa: ARG001 - Django's callback
        if action == "apply_success":
            on_step("applied", f"{migration.app_label}.{migration.name}")

    executor = MigrationExecutor(connections[alias], report)
    executor.loader.check_consistent_history(connections[alias])
    targets = _leaves(executor.loader.graph)
    plan = executor.migration_plan(targets)
    before = executor._create_project_state(with_applied_migrations=True)
    emit_pre_migrate_signal(0, interactive=False, db=alias, apps=before.apps, plan=plan)
    after = executor.migrate(targets, plan, state=before.clone())
    after.clear_delayed_apps_cache()
    emit_post_migrate_signal(0, interactive=False, db=alias, apps=after.apps, plan=plan)


@contextmanager
def _locked(alias: str, number: int, options: MigratorOptions, on_step: OnStep) -> Generator[None]:
    """Hold the shard's migration lock, the same as `shardwright migrate` takes, and wait briefly for other locks."""
    connection = connections[alias]
    connection.ensure_connection()
    if connection.connection.is_behind_pooler:
        raise SetupInvalid(
            'migrations need a session of their own: give SHARDWRIGHT["DSNS"] addresses without a transaction pooler'
        )
    busy_until = time.monotonic() + options.busy_timeout_s
    attempt = 0
    with connection.cursor() as cursor:
        while not _try_lock(cursor, number):
            if time.monotonic() > busy_until:
                raise MigrationRefused(f"another migrator has held it for {options.busy_timeout_s:g} s")
            on_step("waited", "another migrator is working on it")
            attempt += 1
            time.sleep(jittered_pause_s(attempt))
        cursor.execute(f"SET lock_timeout = '{options.lock_timeout_ms}ms'")
        cursor.execute(f"SET statement_timeout = '{options.statement_timeout}'")
    try:
        yield
    finally:
        if connection.connection is not None and not connection.connection.closed:
            with connection.cursor() as cursor:
                cursor.execute("RESET lock_timeout")
                cursor.execute("RESET statement_timeout")
                cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [LOCK_CLASS, number])


def _try_lock(cursor: Any, number: int) -> bool:
    cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [LOCK_CLASS, number])
    return cursor.fetchone()[0]


def _leaves(graph: Any) -> list[Key]:
    return [key for key in graph.leaf_nodes() if key[0] in sharded_labels()]


def _sqlstate(error: Exception) -> str | None:
    return getattr(error.__cause__, "sqlstate", None)


def shards_behind(aliases: Collection[str]) -> dict[str, list[Key]]:
    """The shards that lack migrations, with those."""
    return {alias: missing for alias in aliases if (missing := missing_migrations(alias))}
