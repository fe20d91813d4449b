"""The object stores behind one interface: paths, tiers, and one error for a store that does not answer.

Public files lie at `{account}/{media}-{random}/…`, originals and EXIF below `private/` under the same name, uploads in
progress below `incoming/`. Only paths of the first kind can be part of a URL that we serve.
"""

import contextlib
from collections.abc import AsyncIterator, Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import obstore
from obstore.exceptions import BaseError
from obstore.store import ObjectStore

from tintype.media.errors import MediaNotFound, MediaStoreUnavailable
from tintype.media.models import TIERS, Tier

PRIVATE, INCOMING = "private", "incoming"
ORIGINAL, EXIF = "original", "exif.json"
"""The private files of each media folder."""
CHUNK_BYTES = 256 * 1024
LIST_PAGE = 1_000


@dataclass(frozen=True)
class StoredObject:
    """An object as a store lists it."""

    path: str
    size_bytes: int
    changed_at: datetime


@dataclass(frozen=True)
class ObjectStream:
    """An opened object: its size, and its bytes as they are read."""

    size_bytes: int
    chunks: AsyncIterator[bytes]


class ObjectStorage:
    """Reads and writes objects by tier. A missing object is `MediaNotFound`, other failures `MediaStoreUnavailable`."""

    def __init__(self, stores: Mapping[Tier, ObjectStore]) -> None:
        self._stores = stores

    @property
    def tiers(self) -> list[Tier]:
        """The tiers that have a store of their own, hottest first."""
        seen: list[ObjectStore] = []
        found: list[Tier] = []
        for tier in TIERS:
            if not any(self._stores[tier] is store for store in seen):
                seen.append(self._stores[tier])
                found.append(tier)
        return found

    def same_store(self, one: Tier, other: Tier) -> bool:
        """Whether two tiers share a store."""
        return self._stores[one] is self._stores[other]

    async def put(
        self, path: str, content: Path | bytes | AsyncIterator[bytes], *, tier: Tier = "hot"
    ) -> None:
        """Write an object, as a whole or not at all."""
        with _translate_errors(path):
            await obstore.put_async(self._stores[tier], path, content)

    async def put_all(self, prefix: str, folder: Path, *, tier: Tier = "hot") -> None:
        """Write every file of a folder below a prefix."""
        for file in _files_in(folder):
            await self.put(f"{prefix}/{file.relative_to(folder).as_posix()}", file, tier=tier)

    async def open(
        self, path: str, *, tier: Tier = "hot", part: tuple[int, int] | None = None
    ) -> ObjectStream:
        """Open an object, or its bytes from the first to before the second offset."""
        options: Any = {} if part is None else {"range": part}
        with _translate_errors(path):
            found = await obstore.get_async(self._stores[tier], path, options=options)
        return ObjectStream(found.meta["size"], _chunks(found, path))

    async def size_of(self, path: str, *, tier: Tier = "hot") -> int:
        """The size of an object."""
        with _translate_errors(path):
            return (await obstore.head_async(self._stores[tier], path))["size"]

    async def open_anywhere(self, path: str, first: Tier) -> ObjectStream:
        """Open an object in the tier where it should be or, while it is being moved, in another."""
        for tier in self.search_order(first):
            with contextlib.suppress(MediaNotFound):
                return await self.open(path, tier=tier)
        raise MediaNotFound(path=path)

    def search_order(self, first: Tier) -> list[Tier]:
        """The tiers to search for an object: first the one its row names, then one for each other store."""
        return [first, *(other for other in self.tiers if not self.same_store(first, other))]

    async def fetch(self, paths: Sequence[str], to: Path, *, tier: Tier = "hot") -> None:
        """Download objects, one after the other, into a local file."""
        with to.open("wb") as file:
            for path in paths:
                opened = await self.open(path, tier=tier)
                async for chunk in opened.chunks:
                    file.write(chunk)

    async def fetch_anywhere(self, path: str, to: Path, first: Tier) -> None:
        """Download an object from the tier where it should be or, while it is being moved, from another."""
        opened = await self.open_anywhere(path, first)
        with to.open("wb") as file:
            async for chunk in opened.chunks:
                file.write(chunk)

    async def delete(self, paths: Sequence[str], *, tier: Tier = "hot") -> None:
        """Delete objects; one that is not there is no error."""
        for path in paths:
            with _translate_errors(path), contextlib.suppress(FileNotFoundError):
                await obstore.delete_async(self._stores[tier], path)

    async def delete_prefix(self, prefix: str) -> int:
        """Delete everything below a prefix from every store; returns how many objects."""
        count = 0
        for tier in self.tiers:
            paths = [stored.path async for stored in self.list_objects(prefix, tier=tier)]
            await self.delete(paths, tier=tier)
            count += len(paths)
        return count

    async def list_objects(self, prefix: str, *, tier: Tier = "hot") -> AsyncIterator[StoredObject]:
        """Every object below a prefix."""
        with _translate_errors(prefix):
            async for page in obstore.list(self._stores[tier], prefix, chunk_size=LIST_PAGE):
                for meta in page:
                    yield StoredObject(meta["path"], meta["size"], meta["last_modified"])

    async def list_folders(self, prefix: str, *, tier: Tier = "hot") -> list[str]:
        """The names of the folders right below a prefix."""
        with _translate_errors(prefix):
            found = await obstore.list_with_delimiter_async(self._stores[tier], prefix or None)
        return [path.rstrip("/").rsplit("/", 1)[-1] for path in found["common_prefixes"]]


def _files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


async def _chunks(found: Any, path: str) -> AsyncIterator[bytes]:  # GetResult is typed for type checkers only
    with _translate_errors(path):
        async for chunk in found.stream(min_chunk_size=CHUNK_BYTES):
            yield bytes(cast("bytes", chunk))


@contextlib.contextmanager
def _translate_errors(path: str) -> Generator[None]:
    """Raise the room's own errors: an upload that cannot be stored must be answered with 503, never look like a bug."""
    try:
        yield
    except FileNotFoundError as error:
        raise MediaNotFound(path=path) from error
    except (BaseError, OSError) as error:
        raise MediaStoreUnavailable(path=path, error=f"{type(error).__name__}: {error}"[:300]) from error
