"""Backups of what somebody's devices have read: opaque to the server, versioned, and limited in size.

The header says how a passphrase opens the key; parts are encrypted under that key. Devices write the same parts: each
write names the version it has seen, and who comes second reads, merges and writes again.
"""

import re

from tintype.base.ids import AccountId
from tintype.base.log import get_log
from tintype.base.rate_limits import ENCRYPTION_BACKUP
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.encryption.errors import BackupChanged, BackupFull, BackupInvalid, BackupNotFound
from tintype.direct.encryption.models import (
    LARGEST_BACKUP,
    LARGEST_HEADER,
    LARGEST_PART,
    MAX_PARTS,
    Backup,
    BackupPart,
)
from tintype.direct.encryption.store import QUERIES

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)
log = get_log("direct")


class Backups:
    """Stores one backup per person."""

    def __init__(self, deps: DirectDependencies) -> None:
        self._shards, self._limiter = deps.shards, deps.limiter

    async def find(self, account_id: AccountId) -> Backup | None:
        """Somebody's backup, without its parts."""
        row = await self._shards.owner(account_id).fetch_one(QUERIES.find_backup, account_id=account_id)
        return Backup(**row) if row is not None else None

    async def begin(self, account_id: AccountId, header: bytes, *, expected: int) -> int:
        """Begin a backup under a new key, in place of the one with this version (0: none); returns its version."""
        _check_header(header)
        await self._limiter.acquire(ENCRYPTION_BACKUP, account_id)
        version = await self._shards.owner(account_id).fetch_value(
            QUERIES.begin_backup, account_id=account_id, expected=expected, header=header
        )
        if version is None:
            raise BackupChanged
        log.info("backup.begun", account_id=account_id, version=version)
        return version

    async def rewrap(self, account_id: AccountId, header: bytes, *, version: int) -> None:
        """Another passphrase for the key of a backup; its parts stay as they are."""
        _check_header(header)
        await self._limiter.acquire(ENCRYPTION_BACKUP, account_id)
        changed = await self._shards.owner(account_id).fetch_value(
            QUERIES.rewrap_backup, account_id=account_id, version=version, header=header
        )
        if changed is None:
            raise BackupChanged

    async def put_part(
        self, account_id: AccountId, name: str, content: bytes, *, backup_version: int, expected: int
    ) -> int:
        """Write a part in place of the one with this version (0: none); returns its new version."""
        if not _NAME.fullmatch(name) or not 1 <= len(content) <= LARGEST_PART:
            raise BackupInvalid
        await self._limiter.acquire(ENCRYPTION_BACKUP, account_id)
        async with self._shards.owner(account_id).begin() as tx:
            if await tx.fetch_value(QUERIES.lock_backup, account_id=account_id) != backup_version:
                raise BackupChanged
            version = await tx.fetch_value(
                QUERIES.put_backup_part,
                account_id=account_id,
                name=name,
                backup_version=backup_version,
                expected=expected,
                content=content,
            )
            if version is None:
                raise BackupChanged
            size = await tx.fetch_one(QUERIES.measure_backup, account_id=account_id)
            if size is None or size["part_count"] > MAX_PARTS or size["size_bytes"] > LARGEST_BACKUP:
                raise BackupFull
        return version

    async def page_parts(self, account_id: AccountId, *, after: str, limit: int) -> list[BackupPart]:
        """Parts by their names, after one of them."""
        rows = await self._shards.owner(account_id).fetch(
            QUERIES.page_backup_parts, account_id=account_id, after=after, limit=limit
        )
        return [BackupPart(**row) for row in rows]

    async def get_part(self, account_id: AccountId, name: str) -> BackupPart:
        """One part."""
        row = await self._shards.owner(account_id).fetch_one(
            QUERIES.find_backup_part, account_id=account_id, name=name
        )
        if row is None:
            raise BackupNotFound
        return BackupPart(**row)

    async def delete(self, account_id: AccountId) -> int:
        """Delete a backup with all its parts."""
        return await self._shards.owner(account_id).execute(QUERIES.delete_backup, account_id=account_id)


def _check_header(header: bytes) -> None:
    if not 1 <= len(header) <= LARGEST_HEADER:
        raise BackupInvalid
