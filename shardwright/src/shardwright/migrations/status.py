"""Status of every shard: its version, pending migrations, conflicts with the folder, and drift."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shardwright.errors import ServerUnavailable
from shardwright.migrations.connections import in_parallel, open_connection
from shardwright.migrations.drift import Difference
from shardwright.migrations.files import Folder, Migration
from shardwright.migrations.targets import Target, all_targets
from shardwright.migrations.versions import Version, find_conflict, pending, read_versions, unrepaired
from shardwright.topology import Server, ShardMap


@dataclass(frozen=True)
class TargetStatus:
    """One target: the number of its last migration, what is pending, and a conflict that blocks it, if any."""

    target: Target
    version: int
    pending: tuple[Migration, ...]
    conflict: str | None = None
    unrepaired: tuple[int, ...] = ()
    """Superseded migrations that it has, until their repair is applied."""


@dataclass(frozen=True)
class Status:
    """Status of all targets that could be reached, the servers that could not, and drift among the targets."""

    targets: Sequence[TargetStatus]
    unreachable: Mapping[str, str]
    drift: Sequence[Difference] = ()

    @property
    def behind(self) -> list[TargetStatus]:
        """Targets with pending migrations."""
        return [each for each in self.targets if each.pending]

    @property
    def conflicts(self) -> list[TargetStatus]:
        """Targets that conflict with the folder."""
        return [each for each in self.targets if each.conflict is not None]

    @property
    def is_up_to_date(self) -> bool:
        """Whether every shard of every server has every migration, without drift."""
        return not (self.behind or self.conflicts or self.unreachable or self.drift)

    @property
    def versions(self) -> dict[Target, int]:
        """The last migration of each target that agrees with the folder."""
        return {each.target: each.version for each in self.targets if each.conflict is None}

    @property
    def states(self) -> dict[Target, tuple[int, ...]]:
        """What determines the schema of each target that agrees with the folder: equal states, equal catalogs."""
        return {
            each.target: (each.version, *each.unrepaired) for each in self.targets if each.conflict is None
        }

    @property
    def up_to_date(self) -> set[Target]:
        """The targets that have every migration."""
        return {each.target for each in self.targets if each.conflict is None and not each.pending}


async def read_status(shard_map: ShardMap, folder: Folder) -> Status:
    """Query all servers in parallel, one query per hundred shards."""
    targets = all_targets(shard_map)
    found: dict[Target, Sequence[Version]] = {}
    unreachable: dict[str, str] = {}

    async def read(server: Server) -> None:
        own = {target.schema: target for target in targets if target.server == server.name}
        try:
            async with open_connection(server) as connection:
                versions = await read_versions(connection, own)
        except ServerUnavailable as error:
            unreachable[server.name] = str(error)
        else:
            found.update({own[schema]: some for schema, some in versions.items()})

    await in_parallel(read(server) for server in shard_map.servers.values())
    statuses = [_target_status(target, found[target], folder) for target in targets if target in found]
    return Status(statuses, unreachable)


def _target_status(target: Target, versions: Sequence[Version], folder: Folder) -> TargetStatus:
    migrations = target.migrations(folder)
    conflict = find_conflict(versions, migrations)
    last = max((version.number for version in versions if version.is_applied), default=0)
    waiting = () if conflict else pending(versions, migrations)
    wrong = () if conflict else unrepaired(versions, migrations)
    return TargetStatus(target, last, waiting, conflict, wrong)
