"""What encrypted threads delete by the clock: expired key packages, idle devices, old commits, files of no message."""

from tintype.base.jobs import Schedule
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.encryption.attachments import Attachments
from tintype.direct.encryption.devices import Devices
from tintype.direct.encryption.key_packages import KeyPackages
from tintype.direct.encryption.store import QUERIES

COMMIT_DAYS = 120
"""A device that was away for longer is added anew; an idle one is removed after 90 days."""
DAY_S, HOUR_S = 86_400.0, 3_600.0
BATCH = 500


class EncryptionRetention:
    """Deletes what nobody needs any more."""

    def __init__(
        self, deps: DirectDependencies, devices: Devices, packages: KeyPackages, attachments: Attachments
    ) -> None:
        self._shards, self._devices, self._packages = deps.shards, devices, packages
        self._attachments = attachments

    async def sweep(self) -> None:
        """Delete expired key packages, devices that were not used for 90 days, and commits of 120 days ago."""
        await self._packages.sweep()
        await self._devices.remove_idle()
        for number in sorted(self._shards.map.owners):
            shard = self._shards.shard(number)
            while await shard.execute(QUERIES.delete_old_commits, days=COMMIT_DAYS, limit=BATCH) == BATCH:
                pass

    def schedules(self) -> list[Schedule]:
        """Once a day; files every hour."""
        return [
            Schedule("direct-encryption", DAY_S, self.sweep),
            Schedule("direct-attachments", HOUR_S, self._attachments.sweep),
        ]
