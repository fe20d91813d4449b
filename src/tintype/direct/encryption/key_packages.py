"""Key packages: what a device leaves with the server so that others can add it to a group while it is away."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from shardwright.routing import Shard
from tintype.accounts import AccountNotFound
from tintype.base.ids import AccountId, has_shard
from tintype.base.rate_limits import ENCRYPTION_SETUP, KEY_PACKAGES
from tintype.base.shard_groups import run_by_shard
from tintype.direct.contact import Contact
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.encryption.devices import Devices
from tintype.direct.encryption.errors import KeyPackageInvalid, TooManyKeyPackages
from tintype.direct.encryption.key_package_format import check_signatures, read_key_package_message
from tintype.direct.encryption.models import (
    KEY_PACKAGE_DAYS,
    LARGEST_KEY_PACKAGE,
    MAX_KEY_PACKAGES,
    ClaimedKeyPackage,
    DeviceId,
    MemberDevice,
)
from tintype.direct.encryption.store import QUERIES
from tintype.direct.models import ThreadId
from tintype.direct.reader import ThreadReader

BATCH = 500


class KeyPackages:
    """Stores key packages, and hands each out once."""

    def __init__(
        self, deps: DirectDependencies, devices: Devices, contact: Contact, reader: ThreadReader
    ) -> None:
        self._shards, self._limiter = deps.shards, deps.limiter
        self._devices, self._contact, self._reader = devices, contact, reader

    async def upload(
        self,
        account_id: AccountId,
        device_id: DeviceId,
        contents: Sequence[bytes],
        *,
        last_resort: bytes | None = None,
    ) -> int:
        """Store key packages of a device; returns how many are waiting now."""
        await self._limiter.acquire(ENCRYPTION_SETUP, account_id)
        device = await self._devices.get(account_id, device_id)
        expiries = [check_key_package(each, device) for each in contents]
        named = {"account_id": account_id, "device_id": device_id}
        last_expiry = check_key_package(last_resort, device) if last_resort is not None else None
        async with self._shards.owner(account_id).begin() as tx:
            await tx.fetch_one(QUERIES.lock_devices, account_id=account_id)
            waiting: int = await tx.fetch_value(QUERIES.count_key_packages, device_id=device_id)
            if waiting + len(contents) > MAX_KEY_PACKAGES:
                raise TooManyKeyPackages
            await tx.execute(QUERIES.add_key_packages, **named, contents=list(contents), expiries=expiries)
            if last_resort is not None:
                await tx.execute(
                    QUERIES.set_last_resort, **named, content=last_resort, expires_at=last_expiry
                )
            await tx.execute(QUERIES.touch_device, **named)
        return waiting + len(contents)

    async def claim(
        self,
        by: AccountId,
        account_ids: Sequence[AccountId],
        *,
        device_ids: Sequence[DeviceId] | None = None,
        thread_id: ThreadId | None = None,
    ) -> list[ClaimedKeyPackage]:
        """Take one key package of each device of these people.

        They are oneself, people in a thread with one, or people to whom one may write.
        """
        wanted = list(dict.fromkeys(account_ids))
        if not all(has_shard(self._shards, each) for each in wanted):
            raise AccountNotFound
        await self._limiter.acquire(KEY_PACKAGES, by)
        known = {by}
        if thread_id is not None:
            known |= set((await self._reader.get_row(thread_id, by))["member_ids"])
        strangers = [each for each in wanted if each not in known]
        if strangers and len(await self._contact.judge(by, strangers)) < len(strangers):
            raise AccountNotFound
        return await self._take(wanted, device_ids)

    async def _take(
        self, account_ids: Sequence[AccountId], device_ids: Sequence[DeviceId] | None
    ) -> list[ClaimedKeyPackage]:
        claimed: list[ClaimedKeyPackage] = []

        async def take(shard: Shard, own: list[AccountId]) -> None:
            rows = await shard.fetch(
                QUERIES.claim_key_packages,
                account_ids=own,
                device_ids=None if device_ids is None else list(device_ids),
            )
            claimed.extend(ClaimedKeyPackage(**row) for row in rows)

        await run_by_shard(self._shards, account_ids, int, take)
        return sorted(claimed, key=lambda each: each.device_id)

    async def sweep(self) -> None:
        """Delete key packages whose lifetime is over."""
        for number in sorted(self._shards.map.owners):
            shard = self._shards.shard(number)
            while await shard.execute(QUERIES.delete_expired_key_packages, limit=BATCH) == BATCH:
                pass


def check_key_package(content: bytes, device: MemberDevice) -> datetime:
    """When a key package ends; refused unless it is this device's, signed by it, and its end is near enough."""
    if len(content) > LARGEST_KEY_PACKAGE:
        raise KeyPackageInvalid
    package = read_key_package_message(content)
    leaf = package.leaf
    if (leaf.account_id, leaf.device_id, leaf.signature_key) != (
        device.account_id,
        device.id,
        device.signature_key,
    ):
        raise KeyPackageInvalid
    check_signatures(package)
    now = datetime.now(UTC)
    latest = now + timedelta(days=KEY_PACKAGE_DAYS)
    if leaf.not_after is None or not now.timestamp() < leaf.not_after <= latest.timestamp():
        raise KeyPackageInvalid
    return datetime.fromtimestamp(leaf.not_after, UTC)
