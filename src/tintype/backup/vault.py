"""Reads and writes the objects of a place of backups: compressed, encrypted, and read back after they were written.

Every object is written as a whole or not at all, and never changed. Names that end in `.gz` are compressed; without
encryption they are ordinary files that `tar` and `zcat` open.
"""

import asyncio
import contextlib
import hashlib
import zlib
from collections.abc import AsyncIterator, Generator
from dataclasses import dataclass
from typing import Any

import obstore
from obstore.exceptions import BaseError
from obstore.store import ObjectStore

from tintype.backup.encryption import Keys
from tintype.backup.errors import BackupDamaged, DestinationUnreachable
from tintype.backup.models import StoredObject
from tintype.base.errors import TintypeError

_GZIP = 31
"""zlib's name for its own format with gzip's header and checksum."""
_LEVEL = 1
"""Base backups of many small tables are mostly zeros: higher levels cost three times as much for a tenth."""
_READ_BYTES = 1024 * 1024
_SMALL_BYTES = 8 * 1024 * 1024
"""Up to here an object is written by one request instead of in parts."""


@dataclass(frozen=True)
class Vault:
    """The objects of one place."""

    store: ObjectStore
    keys: Keys

    async def write(self, name: str, chunks: AsyncIterator[bytes]) -> StoredObject:
        """Write an object, read it back to its last byte and compare; what differs is `BackupDamaged`."""
        source = Source(chunks)
        content = aiter(source)
        outgoing = self.keys.seal(name, _compress(content) if name.endswith(".gz") else content)
        with source.explained(), translated(name):
            await obstore.put_async(self.store, name, await _as_body(outgoing))
        stored = StoredObject(name, source.size_bytes, source.digest.hexdigest())
        await self.check(stored)
        return stored

    async def write_bytes(self, name: str, content: bytes) -> StoredObject:
        """Write a small object."""
        return await self.write(name, _once(content))

    async def read(self, stored: StoredObject) -> AsyncIterator[bytes]:
        """The content of an object; at its end `BackupDamaged` is raised if it is not what was written."""
        digest, size_bytes = hashlib.sha256(), 0
        async for chunk in self.read_unchecked(stored.name):
            digest.update(chunk)
            size_bytes += len(chunk)
            yield chunk
        if (size_bytes, digest.hexdigest()) != (stored.size_bytes, stored.sha256):
            raise BackupDamaged(f"The backup is damaged: {stored.name} has changed since it was written.")

    async def read_bytes(self, stored: StoredObject) -> bytes:
        """The content of a small object."""
        return b"".join([chunk async for chunk in self.read(stored)])

    async def check(self, stored: StoredObject) -> None:
        """Read an object to its end; `BackupDamaged` when it is not what was written."""
        async for _ in self.read(stored):
            pass

    async def read_unchecked(self, name: str) -> AsyncIterator[bytes]:
        """The content of an object whose checksum is not known."""
        opened = self.keys.open(name, self._fetch(name))
        async for chunk in _decompress(name, opened) if name.endswith(".gz") else opened:
            yield chunk

    async def list_names(self, prefix: str) -> list[str]:
        """The names of all objects below a prefix."""
        with translated(prefix):
            return [meta["path"] async for page in obstore.list(self.store, prefix) for meta in page]

    async def list_folders(self, prefix: str) -> list[str]:
        """The names of the folders right below a prefix, in order."""
        with translated(prefix):
            found = await obstore.list_with_delimiter_async(self.store, prefix)
        return sorted(path.rstrip("/").rsplit("/", 1)[-1] for path in found["common_prefixes"])

    async def delete(self, names: list[str]) -> None:
        """Delete objects; one that is not there is no error."""
        for name in names:
            with translated(name), contextlib.suppress(FileNotFoundError):
                await obstore.delete_async(self.store, name)

    async def _fetch(self, name: str) -> AsyncIterator[bytes]:
        try:
            with translated(name):
                found = await obstore.get_async(self.store, name)
                async for chunk in found.stream(min_chunk_size=_READ_BYTES):
                    yield bytes(chunk)
        except FileNotFoundError as error:
            raise BackupDamaged(f"The backup is damaged: {name} is missing.") from error


class Source:
    """Counts and hashes content on its way, and remembers what interrupted it."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self.digest, self.size_bytes = hashlib.sha256(), 0
        self._error: Exception | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._chunks:
                self.digest.update(chunk)
                self.size_bytes += len(chunk)
                yield chunk
        except Exception as error:
            self._error = error
            raise

    @contextlib.contextmanager
    def explained(self) -> Generator[None]:
        """Raise what interrupted the content, instead of what the client of a store makes of it."""
        try:
            yield
        except Exception:
            if self._error is not None:
                raise self._error from None
            raise


@contextlib.contextmanager
def translated(name: str) -> Generator[None]:
    """Raise our own error when the store fails; that an object is missing stays `FileNotFoundError`."""
    try:
        yield
    except (FileNotFoundError, TintypeError):
        raise
    except (BaseError, OSError) as error:
        raise DestinationUnreachable(
            f"The place of the backups does not answer, or refuses {name}: {type(error).__name__}: "
            f"{str(error).splitlines()[0][:300] if str(error) else ''}"
        ) from error


async def _as_body(
    chunks: AsyncIterator[bytes],
) -> Any:  # what put_async takes is typed for type checkers only
    """The bytes of something small, or the beginning of something large and the rest as it comes."""
    head = bytearray()
    async for chunk in chunks:
        head += chunk
        if len(head) > _SMALL_BYTES:
            return _chain(bytes(head), chunks)
    return bytes(head)


async def _chain(head: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield head
    async for chunk in rest:
        yield chunk


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content


async def _compress(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    async for chunk in chunks:
        if packed := await asyncio.to_thread(packer.compress, chunk):
            yield packed
    yield packer.flush()


async def _decompress(name: str, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    unpacker = zlib.decompressobj(_GZIP)
    try:
        async for chunk in chunks:
            waiting = chunk
            while waiting:  # a chunk of zeros is a thousand times as large
                yield await asyncio.to_thread(unpacker.decompress, waiting, 4 * _READ_BYTES)
                waiting = unpacker.unconsumed_tail
        yield unpacker.flush()
    except zlib.error as error:
        raise BackupDamaged(f"The backup is damaged: {name} has changed since it was written.") from error
    if not unpacker.eof or unpacker.unused_data:
        raise BackupDamaged(f"The backup is damaged: {name} is cut off or has something after its end.")
