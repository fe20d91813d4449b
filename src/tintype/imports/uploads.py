"""Archives on their way in: in parts, to whichever web process answers (tus), for an import that has not started.

Each part is an object of the store before the row counts it, so what the row says has arrived is safe whichever process
is killed. The offset moves by compare-and-set: of two senders at one offset one wins and the other is told the offset.
"""

import contextlib
import re
import secrets
import unicodedata
from collections.abc import AsyncIterator

from tintype.base.ids import AccountId, has_shard
from tintype.imports.dependencies import FOLDER, ImportsDependencies
from tintype.imports.errors import ArchiveTooLarge, ImportNotFound, ImportStarted, TooManyArchives
from tintype.imports.runs import ImportRun, UploadedArchive
from tintype.imports.store import QUERIES
from tintype.media import (
    MediaStoreUnavailable,
    MediaTooLarge,
    UploadNotFound,
    UploadOffsetWrong,
    split_into_parts,
)

MAX_ARCHIVES = 50
MAX_NAME_LENGTH = 200
PART_BYTES = 8 << 20
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class ArchiveUploads:
    """Archives of imports that are being uploaded, each visible to its sender alone."""

    def __init__(self, dependencies: ImportsDependencies) -> None:
        self._shards, self._storage = dependencies.shards, dependencies.storage
        self.max_bytes = dependencies.max_bytes

    async def begin(self, run: ImportRun, name: str, size_bytes: int) -> UploadedArchive:
        """Start the upload of an archive of this many bytes."""
        async with self._shards.owner(run.id).begin() as tx:
            locked = await tx.fetch_one(QUERIES.lock_import, id=run.id, account_id=run.account_id)
            if locked is None:
                raise ImportNotFound
            if locked["state"] != "uploading":
                raise ImportStarted
            others = await tx.fetch(QUERIES.list_archives, import_id=run.id)
            if len(others) >= MAX_ARCHIVES:
                raise TooManyArchives
            if size_bytes == 0 or sum(each["size_bytes"] for each in others) + size_bytes > self.max_bytes:
                raise ArchiveTooLarge(_size_detail(self.max_bytes), size_bytes=size_bytes)
            row = await tx.fetch_one(
                QUERIES.add_archive,
                import_id=run.id,
                account_id=run.account_id,
                name=clean_name(name),
                size_bytes=size_bytes,
            )
        assert row is not None, "an INSERT … RETURNING returns its row"  # noqa: S101 - narrows the type
        return UploadedArchive(**row)

    async def get(self, import_id: int, archive_id: int, *, owner: AccountId) -> UploadedArchive:
        """An archive that is being uploaded, with the number of bytes that are safe."""
        row = None
        if has_shard(self._shards, archive_id):
            row = await self._shards.owner(archive_id).fetch_one(
                QUERIES.find_archive, id=archive_id, import_id=import_id, account_id=owner
            )
        if row is None:
            raise UploadNotFound
        return UploadedArchive(**row)

    async def list_of(self, run: ImportRun) -> list[UploadedArchive]:
        """The archives of an import; none once it has ended."""
        rows = await self._shards.owner(run.id).fetch(QUERIES.list_archives, import_id=run.id)
        return [UploadedArchive(**row) for row in rows]

    async def receive(self, archive: UploadedArchive, at: int, chunks: AsyncIterator[bytes]) -> int:
        """Store bytes from an offset on; returns the new offset. What arrived before a failure stays, and counts."""
        if at != archive.received_bytes:
            raise UploadOffsetWrong(at=at, stands_at=archive.received_bytes)
        async for part in split_into_parts(chunks, part_bytes=PART_BYTES):
            if len(part) > archive.size_bytes - at:
                raise MediaTooLarge("More bytes arrived than the upload said it would have.")
            at = await self._store_part(archive, at, part)
        return at

    async def cancel(self, archive: UploadedArchive) -> None:
        """Remove an archive from its import, row and bytes."""
        await self._shards.owner(archive.id).execute(QUERIES.delete_archive, id=archive.id)
        with contextlib.suppress(MediaStoreUnavailable):  # the sweep finds what stays behind
            await self._storage.delete_prefix(archive_folder(archive))

    async def _store_part(self, archive: UploadedArchive, at: int, content: bytes) -> int:
        part = f"{at:013d}-{secrets.token_urlsafe(6)}"
        path = f"{archive_folder(archive)}/{part}"
        await self._storage.put(path, content)
        offset = await self._shards.owner(archive.id).fetch_value(
            QUERIES.add_archive_part, id=archive.id, at=at, size_bytes=len(content), part=part
        )
        if offset is None:
            await self._storage.delete([path])
            raise UploadOffsetWrong(at=at)
        return offset


def import_folder(account_id: AccountId, import_id: int) -> str:
    """Where the archives of an import lie in the object store."""
    return f"{FOLDER}/{account_id}/{import_id}"


def archive_folder(archive: UploadedArchive) -> str:
    """Where the parts of an archive lie in the object store."""
    return f"{import_folder(archive.account_id, archive.import_id)}/{archive.id}"


def clean_name(name: str) -> str:
    """The name of a file as its sender calls it, without folders and control characters, for showing."""
    last = unicodedata.normalize("NFC", name.replace("\\", "/").rpartition("/")[2])
    return _CONTROL.sub("", last).encode(errors="replace").decode()[:MAX_NAME_LENGTH].strip() or "archive"


def _size_detail(max_bytes: int) -> str:
    return f"An archive has at least one byte, and all of an import together have at most {max_bytes / 2**30:.1f} GB."
