"""Where every shard stands: its version, what it lacks, what contradicts the folder, and drift."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shardwright.errors import ServerUnavailable
from shardwright.migrating.connecting import connected, in_parallel
from shardwright.migrating.drift import Difference
from shardwright.migrating.files import Folder, Migration
from shardwright.migrating.targets import Target, all_targets
from shardwright.migrating.versions import Version, find_conflict, pending, read_versions
from shardwright.topology import Server, ShardMap


@dataclass(frozen=True)
class Standing:
    """One target: the number of its last migration, what it lacks, and why it cannot go on, if it cannot."""

    target: Target
    version: int
    pending: tuple[Migration, ...]
    conflict: str | None = None


@dataclass(frozen=True)
class Status:
    """All targets that could be asked, the servers that could not, and drift among the targets."""

    standings: Sequence[Standing]
    unreachable: Mapping[str, str]
    drift: Sequence[Difference] = ()

    @property
    def behind(self) -> list[Standing]:
        """Targets that lack migrations."""
        return [standing for standing in self.standings if standing.pending]

    @property
    def conflicts(self) -> list[Standing]:
        """Targets that contradict the folder."""
        return [standing for standing in self.standings if standing.conflict is not None]

    @property
    def is_settled(self) -> bool:
        """Whether every shard of every server has every migration and equals the others."""
        return not (self.behind or self.conflicts or self.unreachable or self.drift)

    @property
    def versions(self) -> dict[Target, int]:
        """The last migration of each target that agrees with the folder."""
        return {each.target: each.version for each in self.standings if each.conflict is None}


async def read_status(shard_map: ShardMap, folder: Folder) -> Status:
    """Ask all servers at once, one query per hundred shards."""
    targets = all_targets(shard_map)
    found: dict[Target, Sequence[Version]] = {}
    unreachable: dict[str, str] = {}

    async def ask(server: Server) -> None:
        own = {target.schema: target for target in targets if target.server == server.name}
        try:
            async with connected(server) as connection:
                versions = await read_versions(connection, own)
        except ServerUnavailable as fault:
            unreachable[server.name] = str(fault)
        else:
            found.update({own[schema]: some for schema, some in versions.items()})

    await in_parallel(ask(server) for server in shard_map.servers.values())
    standings = [_stand(target, found[target], folder) for target in targets if target in found]
    return Status(standings, unreachable)


def _stand(target: Target, versions: Sequence[Version], folder: Folder) -> Standing:
    migrations = target.migrations(folder)
    conflict = find_conflict(versions, migrations)
    last = max((version.number for version in versions if version.is_applied), default=0)
    waiting = () if conflict else pending(versions, migrations)
    return Standing(target, last, waiting, conflict)
