"""Embedded streaming replicas: each follows one embedded PostgreSQL server, and is made anew when it no longer can.

The primary keeps the WAL that a replica still needs, by a replication slot, up to `max_slot_wal_keep_size`. A replica
that stays away longer cannot catch up, nor can one whose primary was restored from a backup: its watch finds out, and
the restart that follows copies the primary again.
"""

from collections.abc import Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import asyncpg
from asyncpg import PostgresError

from shardwright.local import ServerFiles, prepare
from tintype.stack.data_directory import DataDirectory, write_private
from tintype.stack.engine_account import ENGINE_ACCOUNT
from tintype.stack.postgres import LOG_SETTINGS, remove_leftovers, server_program
from tintype.stack.program import Program, RestartNeeded, Stage
from tintype.stack.replica_data import (
    copy_primary,
    find_reason_to_copy,
    has_data,
    is_promoted,
    mark_useless,
    required_settings,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from asyncpg import Connection, Record

WATCH_EVERY_S = 5.0
_TIMEOUT_S = 5
_MAX_CRASHES = 5
_SLOT_PREFIX = "tintype_replica_"
_POSITION = """
SELECT pg_is_in_recovery() AS is_standby,
       pg_last_wal_replay_lsn()::text AS replayed,
       EXISTS (SELECT FROM pg_stat_wal_receiver WHERE status = 'streaming') AS is_streaming,
       (SELECT system_identifier FROM pg_control_system()) AS system,
       (SELECT greatest(c.timeline_id, r.min_recovery_end_timeline)
        FROM pg_control_checkpoint() AS c, pg_control_recovery() AS r) AS timeline
"""
_OBSTACLE = """
SELECT CASE
    WHEN (SELECT system_identifier FROM pg_control_system()) <> $2::bigint THEN 'its primary is another one'
    WHEN EXISTS (
        SELECT FROM regexp_matches(
            pg_read_file('pg_wal/' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8) || '.history',
                         0, 1048576, true),
            '^(\\d+)\\s+([0-9A-F]+/[0-9A-F]+)', 'gn') AS ended
        WHERE ended[1]::bigint = $4 AND ended[2]::pg_lsn < $1::text::pg_lsn
    ) THEN 'it has changes that its primary, a promoted replica, never got'
    WHEN $1::text::pg_lsn > pg_current_wal_flush_lsn() THEN 'it is ahead of its primary, which was restored'
    WHEN right(pg_walfile_name($1::text::pg_lsn), 16) < (
        SELECT min(right(name, 16)) FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$'
    ) OR EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $3::text AND wal_status = 'lost')
    THEN 'it fell so far behind that its primary no longer has the WAL it needs'
END
"""
_ENSURE_SLOT = """
SELECT pg_create_physical_replication_slot($1, true)
WHERE NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1)
"""
_DROP_SLOT = (
    "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = $1 AND NOT active"
)
_DROP_OTHER_SLOTS = """
SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots
WHERE starts_with(slot_name, $1) AND NOT slot_name = ANY ($2::text[]) AND NOT active
"""


class _Position(NamedTuple):
    replayed: str
    system: int
    timeline: int


@dataclass
class _Replica:
    """One replica: how its data are prepared before each start, and whether it can still follow its primary."""

    home: DataDirectory
    folder: Path
    port: int
    slot: str
    primary: ServerFiles
    durable: bool
    settings: Mapping[str, str]
    crashes: int = 0
    """Starts since it was last seen to answer."""
    stuck_at: _Position | None = field(default=None)
    """Where the last check found it without a connection to its primary."""

    @property
    def files(self) -> ServerFiles:
        return replace(self.primary, directory=self.folder, port=self.port)

    async def prepare(self) -> None:
        """Copy the primary where needed, and write the configuration; called before every start."""
        self.home.create_private(self.folder, self.primary.account)
        write_private(self.folder / "password", self.primary.password(), self.primary.account)
        await remove_leftovers(self.files.data)
        self.crashes += 1
        if self.crashes > _MAX_CRASHES and has_data(self.files.data):
            mark_useless(self.folder, "it crashed at every start")
        if find_reason_to_copy(self.folder, self.primary.binaries.major) is not None:
            async with _connected(self.primary.dsn()) as primary:
                await primary.execute(_DROP_SLOT, self.slot)
                await primary.execute(_ENSURE_SLOT, self.slot)
            await copy_primary(self.primary, self.folder, self.slot, self.home.mark, durable=self.durable)
            self.crashes = 1
        else:
            with suppress(OSError, PostgresError):  # its primary is down: the watch does it later
                await self._ensure_slot()
        prepare(
            self.folder,
            port=self.port,
            durable=self.durable,
            settings=required_settings(self.files, {**self.settings, **self._recovery()}),
            account_name=ENGINE_ACCOUNT,
        )

    def _recovery(self) -> dict[str, str]:
        """Settings by which it follows its primary; one that was promoted ignores them."""
        primary = self.primary
        return {
            "primary_conninfo": f"host=127.0.0.1 port={primary.port} user=postgres password={primary.password()} "
            f"application_name={self.folder.name}",
            "primary_slot_name": self.slot,
        }

    async def watch(self) -> None:
        """Raise when it cannot follow its primary any more; judged by two checks in a row, so that a restart passes."""
        self.crashes = 0
        position = await self._find_stuck()
        before, self.stuck_at = self.stuck_at, position
        if position is None:
            return
        await self._ensure_slot()
        async with _connected(self.primary.dsn()) as primary:
            obstacle = cast(
                "str | None",
                await primary.fetchval(
                    _OBSTACLE, position.replayed, position.system, self.slot, position.timeline
                ),
            )
        if obstacle is not None and position == before:
            self.stuck_at = None
            mark_useless(self.folder, obstacle)
            raise RestartNeeded(f"{obstacle}, so it is copied anew")

    async def _ensure_slot(self) -> None:
        """Have the primary keep what it needs from now on; it may have been started without replicas meanwhile."""
        async with _connected(self.primary.dsn()) as primary:
            await primary.execute(_ENSURE_SLOT, self.slot)

    async def _find_stuck(self) -> _Position | None:
        """Where it stands when nothing arrives from its primary; None when it is streaming, or was promoted."""
        async with _connected(self.files.dsn()) as standby:
            row = cast("Record | None", await standby.fetchrow(_POSITION))
        if row is None or not row["is_standby"] or row["is_streaming"]:
            return None
        return _Position(row["replayed"], row["system"], row["timeline"])


def replica_program(
    home: DataDirectory,
    numbers: tuple[int, int],
    port: int,
    primary: ServerFiles,
    *,
    durable: bool,
    settings: Mapping[str, str],
) -> tuple[Program, str]:
    """Return the program of one replica and its DSN as superuser; `numbers` are the server's and the replica's own."""
    folder = home.replica(*numbers)
    home.create_private(folder, primary.account)
    write_private(folder / "password", primary.password(), primary.account)
    own = {**LOG_SETTINGS, **settings}
    if primary.binaries.major >= 18:  # noqa: PLR2004 - the release that brought it
        own["io_workers"] = "1"  # of three, each a process
    each = _Replica(home, folder, port, replica_slot(numbers[1]), primary, durable, own)
    program = replace(
        server_program(folder.name, Stage.REPLICA, each.files),
        before_start=each.prepare,
        watch=each.watch,
        watch_every_s=WATCH_EVERY_S,
        is_optional=True,
    )
    return program, each.files.dsn()


def replica_slot(number: int) -> str:
    """The name of a replica's slot at its primary."""
    return f"{_SLOT_PREFIX}{number}"


async def drop_unused_slots(dsn: str, replica_count: int) -> None:
    """Have an embedded server keep no WAL for replicas that are not started any more."""
    kept = [replica_slot(number) for number in range(1, replica_count + 1)]
    async with _connected(dsn) as connection:
        await connection.execute(_DROP_OTHER_SLOTS, _SLOT_PREFIX, kept)


def unused_replicas(home: DataDirectory, server_count: int, replica_count: int) -> list[Path]:
    """Folders of replicas that are not started any more."""
    return [
        folder
        for number in range(1, server_count + 1)
        for folder in home.replicas(number)
        if int(folder.name.rpartition("-")[2]) > replica_count and not is_promoted(folder / "data")
    ]


@asynccontextmanager
async def _connected(dsn: str) -> "AsyncGenerator[Connection]":
    connection = cast(
        "Connection", await asyncpg.connect(dsn, timeout=_TIMEOUT_S, command_timeout=_TIMEOUT_S)
    )
    try:
        yield connection
    finally:
        await connection.close(timeout=_TIMEOUT_S)
