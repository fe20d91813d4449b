"""The migrator: a folder of migrations on one side, every shard of every server on the other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from shardwright.errors import MigrationRefused, ServerUnavailable
from shardwright.migrating.applying import Applier
from shardwright.migrating.connecting import Connection
from shardwright.migrating.drift import Difference, find_drift
from shardwright.migrating.files import Folder, Migration
from shardwright.migrating.linting import lint_migrations
from shardwright.migrating.pace import Pace
from shardwright.migrating.replaying import replay
from shardwright.migrating.report import MigrationFailed, OnProgress, Report
from shardwright.migrating.rollout import Rollout
from shardwright.migrating.snapshot import snapshot
from shardwright.migrating.status import Standing, Status, read_status
from shardwright.migrating.targets import Target
from shardwright.topology import ShardMap

_DEFAULT_PACE = Pace()
_SHOWN = 10


class MapSource(Protocol):
    """Whatever knows the latest map; a `Directory` does."""

    async def load(self) -> ShardMap:
        """The latest map."""
        ...


class Migrator:
    """Brings every shard to the folder's last migration, and says where they stand.

    Connects to servers by the map's addresses. Concurrent index builds need a session of their own there, so
    the addresses must not lead through a transaction pooler; `Directory.open(dsn, dsns=…)` replaces them.
    """

    def __init__(
        self, source: ShardMap | MapSource, folder: Path | Folder, *, pace: Pace = _DEFAULT_PACE
    ) -> None:
        self._source = source
        self.folder = Folder.load(folder) if isinstance(folder, Path) else folder
        self.pace = pace

    async def apply(
        self,
        *,
        shards: Collection[int] | None = None,
        lint: bool = True,
        keep_going: bool = False,
        progress: OnProgress | None = None,
    ) -> Report:
        """Every target has every migration; `MigrationFailed`, with the report, when some do not.

        Nothing at all is applied when a server cannot be asked, a file was changed after it was applied, or the
        linter refuses a migration that no shard has yet. `shards` limits the work to some (and the servers).
        After a failure nothing new is started, unless `keep_going`.
        """
        shard_map = await self.map()
        status = await read_status(shard_map, self.folder)
        if not keep_going:
            _refuse_unreachable(status)
        _refuse_conflicts(status)
        if lint:
            self._refuse_unsound(status)
        wanted = [standing.target for standing in status.behind if _is_wanted(standing, shards)]
        rollout = Rollout(shard_map, self.folder, self.pace, keep_going=keep_going, on_progress=progress)
        await rollout.run(wanted)
        if rollout.report.failed or rollout.report.not_started:
            raise MigrationFailed(rollout.report)
        return rollout.report

    async def prepare(self, connection: Connection, number: int) -> None:
        """A new shard has every migration, and its server too, before any router can see it.

        Made to be passed on: `directory.add_shards(8, prepare=migrator.prepare)`.
        """
        for target in (Target("the new shard's server"), Target("the new shard's server", number)):
            applier = Applier(target.migrations(self.folder), self.pace)
            await applier.bring_up(connection, target, _ignore)

    async def status(self, *, drift: bool = True) -> Status:
        """Where every target stands; servers that do not answer are named, not fatal."""
        shard_map = await self.map()
        status = await read_status(shard_map, self.folder)
        if not drift:
            return status
        return replace(status, drift=await find_drift(_reachable(shard_map, status), status.versions))

    async def pending(self) -> dict[Target, tuple[Migration, ...]]:
        """What each target that is behind lacks."""
        status = await self.status(drift=False)
        return {standing.target: standing.pending for standing in status.behind}

    async def drift(self, *, replay_dsn: str | None = None) -> list[Difference]:
        """The differences between catalogs of targets at equal versions.

        With `replay_dsn`, a server on which a database may be created, targets that are up to date are measured
        against a replay of the migrations instead of against each other.
        """
        shard_map = await self.map()
        status = await read_status(shard_map, self.folder)
        expected = await replay(self.folder, replay_dsn, shard_map.layout) if replay_dsn is not None else None
        return await find_drift(_reachable(shard_map, status), status.versions, expected=expected)

    async def snapshot(self, dsn: str | None = None) -> str:
        """The text of schema.sql, from a replay in a scratch database, by default beside the first server's."""
        shard_map = await self.map()
        if dsn is None:
            dsn = shard_map.servers[min(shard_map.servers)].dsn
        return await snapshot(self.folder, dsn, layout=shard_map.layout)

    async def map(self) -> ShardMap:
        """The map as it is now."""
        return self._source if isinstance(self._source, ShardMap) else await self._source.load()

    def _refuse_unsound(self, status: Status) -> None:
        # What some shard already has cannot be unwritten, and the other shards must get it too.
        newest = dict.fromkeys(("server", "shard"), 0)
        for target, version in status.versions.items():
            newest[target.kind] = max(newest[target.kind], version)
        everything = (*self.folder.server, *self.folder.shard)
        new = {each.path for each in everything if each.number > newest[each.kind]}
        if not new:
            return
        findings = [*lint_migrations(self.folder.server), *lint_migrations(self.folder.shard)]
        refused = [str(finding) for finding in findings if finding.path in new]
        if refused:
            raise MigrationRefused("the linter refuses, and nothing was applied:\n" + _some(refused))


def _is_wanted(standing: Standing, shards: Collection[int] | None) -> bool:
    number = standing.target.number
    return number is None or shards is None or number in shards


def _refuse_unreachable(status: Status) -> None:
    if status.unreachable:
        raise ServerUnavailable(f"nothing was applied: {_some(list(status.unreachable.values()))}")


def _refuse_conflicts(status: Status) -> None:
    if conflicts := [f"{standing.target} {standing.conflict}" for standing in status.conflicts]:
        raise MigrationRefused("nothing was applied:\n" + _some(conflicts))


def _reachable(shard_map: ShardMap, status: Status) -> ShardMap:
    servers = {name: server for name, server in shard_map.servers.items() if name not in status.unreachable}
    return replace(shard_map, servers=servers)


def _some(lines: Sequence[str]) -> str:
    more = [f"… and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return "\n".join([*lines[:_SHOWN], *more])


def _ignore(_what: str, _detail: str) -> None:
    """Whoever adds shards shows progress by the shard."""
