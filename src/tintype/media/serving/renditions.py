"""Makes files of media that were not made when they were uploaded: each once, a few at a time, and keeps them.

One process makes a file, of all that serve it: the others wait a moment for it. Files are made in the sandbox, stored
beside the media's others and counted with them, so that they are moved, deleted and swept with them too.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal

from tintype.base.errors import Unavailable
from tintype.base.log import get_log
from tintype.media.dependencies import MediaDependencies
from tintype.media.errors import MediaNotFound, MediaRefused
from tintype.media.serving.files import MediaFile, MediaFiles

Make = Callable[[Path], Awaitable[Path]]
"""Makes the file in an empty folder; returns where."""
Outcome = Literal["made", "failed", "left to another"]
MAX_AT_ONCE = 2
MAX_WAITING = 8
"""So many may be made or wait for their turn, in each process."""
LEASE_S = 60
"""For so long one process alone tries to make a file; one that fails is tried again after that."""
POLL_S, POLLS = 0.1, 30
"""How often to look for a file that another process makes, and how many times."""
log = get_log("media")


class Renditions:
    """The files that are being made in this process."""

    def __init__(self, dependencies: MediaDependencies, files: MediaFiles) -> None:
        self._storage, self._temporary = dependencies.storage, dependencies.temporary
        self._reads, self._usage, self._files = dependencies.reads, dependencies.usage, files
        self._making: dict[str, asyncio.Task[Outcome]] = {}
        self._turns = asyncio.Semaphore(MAX_AT_ONCE)

    async def find(self, file: MediaFile) -> MediaFile | None:
        """The file with the tier it lies in, if it was made."""
        with contextlib.suppress(MediaNotFound):
            return (await self._files.locate(file))[0]
        return None

    async def make(self, file: MediaFile, make: Make) -> bool:
        """Make a file and wait for it; False where that failed, or where too many others are being made."""
        task = self._start(file, make, MAX_WAITING)
        if task is None:
            return False
        outcome = await asyncio.shield(task)
        return await self._wait_for_other(file) if outcome == "left to another" else outcome == "made"

    def make_soon(self, file: MediaFile, make: Make) -> None:
        """Make a file in the background, unless others are being made: then a later read asks for it again."""
        self._start(file, make, MAX_AT_ONCE)

    async def close(self) -> None:
        """Wait until what is being made is stored."""
        while self._making:
            await asyncio.gather(*self._making.values())

    def _start(self, file: MediaFile, make: Make, limit: int) -> asyncio.Task[Outcome] | None:
        task = self._making.get(file.path)
        if task is None and len(self._making) < limit:
            task = self._making[file.path] = asyncio.create_task(self._try_make(file, make))
            task.add_done_callback(lambda _done: self._making.pop(file.path, None))
        return task

    async def _try_make(self, file: MediaFile, make: Make) -> Outcome:
        try:
            async with self._turns:
                what = f"making:{file.path.rpartition('/')[2]}"
                if not await self._reads.is_first_within(what, file.media_id, seconds=LEASE_S):
                    return "left to another"
                return "made" if await self._make(file, make) else "failed"
        except (MediaNotFound, MediaRefused, Unavailable) as error:
            log.warning("media.rendition_failed", path=file.path, error=str(error))
        except Exception:
            log.exception("media.rendition_failed", path=file.path)
        return "failed"

    async def _make(self, file: MediaFile, make: Make) -> bool:
        with self._temporary.folder() as folder:
            await self._storage.put(file.path, await make(folder), tier=file.tier)
        is_kept = await self._usage.measure(file.media_id)
        if not is_kept:  # deleted meanwhile, and perhaps its files before this one was there
            await self._storage.delete([file.path], tier=file.tier)
        log.debug("media.rendition_made", path=file.path)
        return is_kept

    async def _wait_for_other(self, file: MediaFile) -> bool:
        """Whether another process has made the file within a moment."""
        for _ in range(POLLS):
            await asyncio.sleep(POLL_S)
            if await self.find(file):
                return True
        return False
