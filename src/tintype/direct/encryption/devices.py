"""Devices: leaves of groups to come, each bound to the session that registered it."""

from collections.abc import Sequence

from tintype.accounts import SessionsEnded
from tintype.base.ids import AccountId, has_shard
from tintype.base.log import get_log
from tintype.base.rate_limits import ENCRYPTION_SETUP
from tintype.base.shard_groups import gather_rows
from tintype.base.text import clean_line
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.encryption.errors import DeviceInvalid, DeviceNotFound, TooManyDevices
from tintype.direct.encryption.events import EncryptionDevicesChanged
from tintype.direct.encryption.key_package_format import KEY_BYTES
from tintype.direct.encryption.models import MAX_DEVICES, Device, DeviceId, MemberDevice
from tintype.direct.encryption.store import QUERIES

LONGEST_NAME = 60
IDLE_DAYS = 90
"""As long as a session lasts without being used."""
BATCH = 100
log = get_log("direct")


class Devices:
    """Registers, lists and removes devices."""

    def __init__(self, deps: DirectDependencies) -> None:
        self._shards, self._outbox, self._limiter = deps.shards, deps.outbox, deps.limiter

    async def register(
        self, account_id: AccountId, session_id: int, *, name: str, signature_key: bytes
    ) -> DeviceId:
        """A new device of somebody, until its session ends; others in their encrypted threads can add it."""
        name = clean_line(name)
        if not 1 <= len(name) <= LONGEST_NAME or len(signature_key) != KEY_BYTES:
            raise DeviceInvalid
        await self._limiter.acquire(ENCRYPTION_SETUP, account_id)
        async with self._shards.owner(account_id).begin() as tx:
            await tx.fetch_one(QUERIES.lock_devices, account_id=account_id)
            if await tx.fetch_value(QUERIES.count_devices, account_id=account_id) >= MAX_DEVICES:
                raise TooManyDevices
            device_id = DeviceId(
                await tx.fetch_value(
                    QUERIES.add_device,
                    account_id=account_id,
                    session_id=session_id,
                    name=name,
                    signature_key=signature_key,
                )
            )
            await self._outbox.add(tx, EncryptionDevicesChanged(account_id))
        log.info("device.registered", account_id=account_id, device_id=device_id)
        return device_id

    async def list_own(self, account_id: AccountId) -> list[Device]:
        """Somebody's own devices, the oldest first."""
        rows = await self._shards.owner(account_id).fetch(QUERIES.list_devices, account_id=account_id)
        return [Device(**row) for row in rows]

    async def get(self, account_id: AccountId, device_id: DeviceId) -> MemberDevice:
        """A device of somebody's own; it counts as used."""
        shard, named = self._shards.owner(account_id), {"account_id": account_id, "device_id": device_id}
        row = await shard.fetch_one(QUERIES.find_device, **named)
        if row is None:
            raise DeviceNotFound
        return MemberDevice(device_id, account_id, row["name"], row["signature_key"])

    async def list_of(self, account_ids: Sequence[AccountId]) -> list[MemberDevice]:
        """The devices of some people."""
        rows = (
            await gather_rows(self._shards, QUERIES.gather_devices_of, list(account_ids))
            if account_ids
            else ()
        )
        found = [
            MemberDevice(DeviceId(row["id"]), AccountId(row["account_id"]), row["name"], row["signature_key"])
            for row in rows
        ]
        return sorted(found, key=lambda each: each.id)

    async def find_keys(self, device_ids: Sequence[DeviceId]) -> dict[DeviceId, tuple[AccountId, bytes]]:
        """Whose these devices are, and their signature keys; those that are gone are missing."""
        known = [each for each in dict.fromkeys(device_ids) if has_shard(self._shards, each)]
        rows = await gather_rows(self._shards, QUERIES.gather_devices, known) if known else ()
        return {DeviceId(row["id"]): (AccountId(row["account_id"]), row["signature_key"]) for row in rows}

    async def remove(self, account_id: AccountId, device_id: DeviceId) -> EncryptionDevicesChanged:
        """Remove one of somebody's own devices."""
        removed = await self._delete(account_id, device_id=device_id)
        if not removed.removed_ids:
            raise DeviceNotFound
        return removed

    async def on_sessions_ended(self, ended: SessionsEnded) -> None:
        """The devices of sessions that have ended go with them; all, where no session is named."""
        sessions = [int(each) for each in ended.session_ids] or None
        await self._delete(ended.account_id, session_ids=sessions)

    async def remove_idle(self) -> None:
        """Remove devices that were not used for as long as a session lasts."""
        for number in sorted(self._shards.map.owners):
            shard = self._shards.shard(number)
            for row in await shard.fetch(QUERIES.list_idle_devices, days=IDLE_DAYS, limit=BATCH):
                await self._delete(AccountId(row["account_id"]), device_id=DeviceId(row["id"]))

    async def erase(self, account_id: AccountId) -> int:
        """Remove all devices of somebody; returns how many."""
        return len((await self._delete(account_id)).removed_ids)

    async def _delete(
        self,
        account_id: AccountId,
        *,
        device_id: DeviceId | None = None,
        session_ids: Sequence[int] | None = None,
    ) -> EncryptionDevicesChanged:
        async with self._shards.owner(account_id).begin() as tx:
            rows = await tx.fetch(
                QUERIES.delete_devices, account_id=account_id, device_id=device_id, session_ids=session_ids
            )
            removed = EncryptionDevicesChanged(account_id, tuple(DeviceId(row["id"]) for row in rows))
            if rows:
                await self._outbox.add(tx, removed)
                log.info("devices.removed", account_id=account_id, count=len(rows))
        return removed
