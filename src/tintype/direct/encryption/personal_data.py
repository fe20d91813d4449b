"""Export and erasure of what encrypted threads store about a person, which is no key and no text."""

import base64
from collections.abc import AsyncIterator

from shardwright.routing import Transaction
from tintype.base.ids import AccountId
from tintype.base.personal_data import ExportRecord
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.encryption.attachments import Attachments
from tintype.direct.encryption.backups import Backups
from tintype.direct.encryption.devices import Devices
from tintype.direct.encryption.store import QUERIES
from tintype.direct.models import ThreadId

BATCH = 100


class EncryptionPersonalData:
    """One person's devices, encrypted files and backup."""

    def __init__(
        self, deps: DirectDependencies, devices: Devices, attachments: Attachments, backups: Backups
    ) -> None:
        self._shards, self._devices = deps.shards, devices
        self._attachments, self._backups = attachments, backups

    async def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """Devices, which encrypted files there are, and the backup as it is stored."""
        for device in await self._devices.list_own(account_id):
            yield ExportRecord(
                "encryption_devices.json",
                {
                    "device_id": str(device.id),
                    "name": device.name,
                    "signature_key": encode(device.signature_key),
                    "seen_at": device.seen_at.isoformat(),
                    "key_packages": device.key_packages,
                },
            )
        after = 0
        while rows := await self._shards.owner(account_id).fetch(
            QUERIES.list_attachments, account_id=account_id, after=after, limit=BATCH
        ):
            after = rows[-1]["id"]
            for row in rows:
                content = {
                    "attachment_id": str(row["id"]),
                    "size_bytes": row["size_bytes"],
                    "thread_id": str(row["thread_id"]) if row["thread_id"] else None,
                    "created_at": row["created_at"].isoformat(),
                }
                yield ExportRecord("encrypted_attachments.json", content)
        async for record in self._export_backup(account_id):
            yield record

    async def _export_backup(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        backup, after = await self._backups.find(account_id), ""
        if backup is None:
            return
        content = {"version": backup.version, "header": encode(backup.header)}
        yield ExportRecord("encryption_backup.json", content)
        while parts := await self._backups.page_parts(account_id, after=after, limit=BATCH):
            after = parts[-1].name
            for part in parts:
                yield ExportRecord(
                    "encryption_backup_parts.json", {"name": part.name, "content": encode(part.content)}
                )

    async def erase(self, account_id: AccountId) -> int:
        """Erase a batch of what lies with the person: files, devices with their key packages, the backup."""
        erased = await self._attachments.erase(account_id)
        erased += await self._devices.erase(account_id)
        return erased or await self._backups.delete(account_id)

    async def erase_in(self, tx: Transaction, thread_id: ThreadId, account_id: AccountId) -> None:
        """Nothing in the group of a thread names the person; others' next commit removes the nameless leaves."""
        await tx.execute(QUERIES.erase_in_group, thread_id=thread_id, account_id=account_id)

    async def delete_group(self, tx: Transaction, thread_id: ThreadId) -> None:
        """A thread is deleted, and its group with it."""
        await tx.execute(QUERIES.delete_group, thread_id=thread_id)

    async def count_left(self, account_id: AccountId) -> int:
        """How many rows of a person are left on their shard."""
        return await self._shards.owner(account_id).fetch_value(
            QUERIES.count_encryption_left, account_id=account_id
        )


def encode(content: bytes) -> str:
    """Bytes as text for an export."""
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
