"""The migrator: applies a folder of migrations to every shard of every server, and reports their status."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from shardwright.errors import MigrationRefused, ServerUnavailable, ShardsMoving
from shardwright.migrations.applier import Applier
from shardwright.migrations.connections import Connection
from shardwright.migrations.drift import Difference, find_drift
from shardwright.migrations.files import Folder, Migration
from shardwright.migrations.linter import lint_folder
from shardwright.migrations.options import MigratorOptions
from shardwright.migrations.replay import replay
from shardwright.migrations.report import MigrationFailed, OnProgress, Report
from shardwright.migrations.rollout import Rollout
from shardwright.migrations.snapshot import snapshot
from shardwright.migrations.status import Status, TargetStatus, read_status
from shardwright.migrations.targets import Target
from shardwright.topology import Directory, ShardMap, locate_primary

_DEFAULT_OPTIONS = MigratorOptions()
_SHOWN = 10


class MapSource(Protocol):
    """Loads the latest shard map; `Directory` implements it."""

    async def load(self) -> ShardMap:
        """The latest map."""
        ...


class Migrator:
    """Brings every shard to the folder's last migration, and reports status, drift and the resulting schema.

    Connects to servers by the map's addresses. Concurrent index builds need their own session, so the addresses must
    not lead through a transaction pooler; `Directory.open(dsn, dsns=…)` overrides them.
    """

    def __init__(
        self,
        source: ShardMap | MapSource,
        folder: Path | Folder,
        *,
        options: MigratorOptions = _DEFAULT_OPTIONS,
    ) -> None:
        self._source = source
        self.folder = Folder.load(folder) if isinstance(folder, Path) else folder
        self.options = options

    async def apply(
        self,
        *,
        shards: Collection[int] | None = None,
        lint: bool = True,
        keep_going: bool = False,
        progress: OnProgress | None = None,
    ) -> Report:
        """Apply every pending migration; raises `MigrationFailed`, with the report, when some targets failed.

        Nothing is applied when a server cannot be reached, a file was changed after it was applied, or the linter
        refuses a migration that no shard has yet. `shards` limits the work to some shards (and the servers).
        After a failure no further target is started, unless `keep_going`.
        """
        shard_map = await self.map()
        status = await read_status(shard_map, self.folder)
        if not keep_going:
            _refuse_unreachable(status)
        _refuse_conflicts(status)
        if lint:
            self._refuse_lint_findings(status)
        wanted = [each.target for each in status.behind if _is_wanted(each, shards)]
        await self._refuse_moving(wanted)
        rollout = Rollout(shard_map, self.folder, self.options, keep_going=keep_going, on_progress=progress)
        await rollout.run(wanted)
        if rollout.report.failed or rollout.report.not_started:
            raise MigrationFailed(rollout.report)
        return rollout.report

    async def _refuse_moving(self, wanted: Sequence[Target]) -> None:
        """A changed table would stop the replication of a move, also of one whose old copy still follows."""
        moving = await self._source.moving_shards() if isinstance(self._source, Directory) else {}
        for target in wanted:
            if target.number in moving:
                move = moving[target.number]
                raise ShardsMoving(
                    f"{target.schema} is being moved, or its old copy still follows it: run "
                    f"`shardwright move finish {move}` (or resume, or abort) first"
                )

    async def prepare(self, connection: Connection, number: int) -> None:
        """Apply every migration to a new shard and its server, before any router can see it.

        Pass it to the directory: `directory.add_shards(8, prepare=migrator.prepare)`.
        """
        for target in (Target("the new shard's server"), Target("the new shard's server", number)):
            applier = Applier(target.migrations(self.folder), self.options)
            await applier.apply_pending(connection, target, _ignore)

    async def status(self, *, drift: bool = True) -> Status:
        """Return the status of every target; servers that do not answer are listed as unreachable."""
        shard_map = await self.map()
        status = await read_status(shard_map, self.folder)
        if not drift:
            return status
        return replace(status, drift=await find_drift(_reachable(shard_map, status), status.states))

    async def pending(self) -> dict[Target, tuple[Migration, ...]]:
        """Return the pending migrations of each target that is behind."""
        status = await self.status(drift=False)
        return {each.target: each.pending for each in status.behind}

    async def drift(self, *, replay_dsn: str | None = None) -> list[Difference]:
        """Return the differences between catalogs of targets at equal versions.

        With `replay_dsn`, a server on which a database may be created, up-to-date targets are compared with a replay
        of the migrations instead of with each other.
        """
        shard_map = await self.map()
        status = await read_status(shard_map, self.folder)
        expected = await replay(self.folder, replay_dsn, shard_map.layout) if replay_dsn is not None else None
        return await find_drift(
            _reachable(shard_map, status), status.states, expected=expected, up_to_date=status.up_to_date
        )

    async def snapshot(self, dsn: str | None = None) -> str:
        """Return the text of schema.sql, from a replay in a scratch database, by default on the first server."""
        shard_map = await self.map()
        if dsn is None:
            dsn = (await locate_primary(shard_map.servers[min(shard_map.servers)])).dsn
        return await snapshot(self.folder, dsn, layout=shard_map.layout)

    async def map(self) -> ShardMap:
        """Return the latest shard map."""
        return self._source if isinstance(self._source, ShardMap) else await self._source.load()

    def _refuse_lint_findings(self, status: Status) -> None:
        # A migration that some shard already has cannot be changed, and the other shards must get it too.
        newest = dict.fromkeys(("server", "shard"), 0)
        for target, version in status.versions.items():
            newest[target.kind] = max(newest[target.kind], version)
        files = (*self.folder.server, *self.folder.shard)
        everything = [*files, *(each.repair for each in files if each.repair is not None)]
        new = {each.path for each in everything if each.number > newest[each.kind]}
        if not new:
            return
        refused = [str(finding) for finding in lint_folder(self.folder) if finding.path in new]
        if refused:
            raise MigrationRefused("the linter refuses, and nothing was applied:\n" + _some(refused))


def _is_wanted(status: TargetStatus, shards: Collection[int] | None) -> bool:
    number = status.target.number
    return number is None or shards is None or number in shards


def _refuse_unreachable(status: Status) -> None:
    if status.unreachable:
        raise ServerUnavailable(f"nothing was applied: {_some(list(status.unreachable.values()))}")


def _refuse_conflicts(status: Status) -> None:
    if conflicts := [f"{each.target} {each.conflict}" for each in status.conflicts]:
        raise MigrationRefused("nothing was applied:\n" + _some(conflicts))


def _reachable(shard_map: ShardMap, status: Status) -> ShardMap:
    servers = {name: server for name, server in shard_map.servers.items() if name not in status.unreachable}
    return replace(shard_map, servers=servers)


def _some(lines: Sequence[str]) -> str:
    more = [f"… and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return "\n".join([*lines[:_SHOWN], *more])


def _ignore(_what: str, _detail: str) -> None:
    """No progress per migration: the caller reports progress per shard."""
