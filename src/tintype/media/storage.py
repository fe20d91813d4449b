"""The one port to the object stores: what lies where, and one way to say that a store does not answer.

Public files lie at `{account}/{media}-{random}/…`, raw originals and EXIF under `private/` at the same name, uploads
under way under `incoming/`. Only the first kind can be named by an address that we serve.
"""

import contextlib
from collections.abc import AsyncIterator, Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import obstore
from obstore.exceptions import BaseError
from obstore.store import LocalStore, ObjectStore

from tintype.media.errors import MediaNotFound
from tintype.media.failures import MediaStoreUnavailable
from tintype.media.models import TIERS, Tier

PRIVATE, INCOMING = "private", "incoming"
CHUNK_BYTES = 256 * 1024
PAGE = 1_000


@dataclass(frozen=True)
class Stored:
    """An object in a store."""

    path: str
    size_bytes: int
    changed_at: datetime


@dataclass(frozen=True)
class Opened:
    """An object and its bytes, as they come."""

    size_bytes: int
    chunks: AsyncIterator[bytes]


class Storage:
    """Objects by tier. Every failure but a missing object is `MediaStoreUnavailable`."""

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

    def store_of(self, tier: Tier) -> ObjectStore:
        """The store itself, for what only one kind of store can do."""
        return self._stores[tier]

    async def put(
        self, path: str, content: Path | bytes | AsyncIterator[bytes], *, tier: Tier = "hot"
    ) -> None:
        """The object is there as a whole, or not at all."""
        with _telling(path):
            await obstore.put_async(self._stores[tier], path, content)

    async def put_all(self, prefix: str, folder: Path, *, tier: Tier = "hot") -> None:
        """Every file of a folder, under a prefix."""
        for file in _files_in(folder):
            await self.put(f"{prefix}/{file.relative_to(folder).as_posix()}", file, tier=tier)

    async def open(self, path: str, *, tier: Tier = "hot", part: tuple[int, int] | None = None) -> Opened:
        """An object's bytes, or those from the first to before the second number."""
        options: Any = {} if part is None else {"range": part}
        with _telling(path):
            found = await obstore.get_async(self._stores[tier], path, options=options)
        return Opened(found.meta["size"], _chunks(found, path))

    async def size_of(self, path: str, *, tier: Tier = "hot") -> int:
        """How large an object is."""
        with _telling(path):
            return (await obstore.head_async(self._stores[tier], path))["size"]

    async def open_anywhere(self, path: str, first: Tier) -> Opened:
        """An object in the tier where it should be, or, while it moves, in another."""
        for tier in self.places(first):
            with contextlib.suppress(MediaNotFound):
                return await self.open(path, tier=tier)
        raise MediaNotFound(path=path)

    def places(self, first: Tier) -> list[Tier]:
        """Where to look for an object: first where its row says, then in every other store."""
        return [first, *(other for other in self.tiers if not self.same_store(first, other))]

    async def fetch(self, paths: Sequence[str], to: Path, *, tier: Tier = "hot") -> None:
        """The objects, one behind the other, in a file on this machine."""
        with to.open("wb") as file:
            for path in paths:
                opened = await self.open(path, tier=tier)
                async for chunk in opened.chunks:
                    file.write(chunk)

    async def delete(self, paths: Sequence[str], *, tier: Tier = "hot") -> None:
        """These objects are gone; one that was never there is no failure."""
        for path in paths:
            with _telling(path), contextlib.suppress(FileNotFoundError):
                await obstore.delete_async(self._stores[tier], path)

    async def delete_below(self, prefix: str) -> int:
        """Everything below a prefix is gone from every store; returns how many objects that were."""
        count = 0
        for tier in self.tiers:
            paths = [stored.path async for stored in self.walk(prefix, tier=tier)]
            await self.delete(paths, tier=tier)
            count += len(paths)
        return count

    async def walk(self, prefix: str, *, tier: Tier = "hot") -> AsyncIterator[Stored]:
        """Every object below a prefix."""
        with _telling(prefix):
            async for page in obstore.list(self._stores[tier], prefix, chunk_size=PAGE):
                for meta in page:
                    yield Stored(meta["path"], meta["size"], meta["last_modified"])

    async def list_names(self, prefix: str, *, tier: Tier = "hot") -> list[str]:
        """The names of the folders right below a prefix."""
        with _telling(prefix):
            found = await obstore.list_with_delimiter_async(self._stores[tier], prefix or None)
        return [path.rstrip("/").rsplit("/", 1)[-1] for path in found["common_prefixes"]]

    def is_local(self, tier: Tier = "hot") -> bool:
        """Whether a tier is a directory of this machine."""
        return isinstance(self._stores[tier], LocalStore)


def _files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


async def _chunks(found: Any, path: str) -> AsyncIterator[bytes]:  # GetResult is typed for type checkers only
    with _telling(path):
        async for chunk in found.stream(min_chunk_size=CHUNK_BYTES):
            yield bytes(cast("bytes", chunk))


@contextlib.contextmanager
def _telling(path: str) -> Generator[None]:
    """Errors in our own words; an upload that cannot be stored must read as a 503 and never as a bug."""
    try:
        yield
    except FileNotFoundError as error:
        raise MediaNotFound(path=path) from error
    except (BaseError, OSError) as error:
        raise MediaStoreUnavailable(path=path, error=f"{type(error).__name__}: {error}"[:300]) from error
