"""The offer to fill a fresh site with the demo community, from the web app.

Only the first account of a site gets it, as long as nobody else has joined. Afterwards it is gone for everybody, so it
needs no role and cannot be used against people. The setting `demo_offered` turns it off.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tintype.base.ids import AccountId
from tintype.base.job_progress import JobProgress, JobProgressStore
from tintype.demo.errors import DemoNotOffered
from tintype.demo.models import load_people
from tintype.wiring import Rooms

JOB = "demo"
StartDemo = Callable[[AccountId], Awaitable[None]]
"""Starts `tintype demo` in a process of its own, for the account that requested it."""


@dataclass(frozen=True)
class DemoStatus:
    """Whether an account may start the demo, and how far it is."""

    is_offered: bool
    progress: JobProgress


class DemoOffer:
    """Decides who may start the demo, and starts it at most once."""

    def __init__(self, rooms: Rooms, start: StartDemo | None) -> None:
        self._rooms, self._start = rooms, start
        self._progress = progress_store(rooms)

    async def get_status(self, viewer: AccountId) -> DemoStatus:
        """Whether the demo is offered to this account, and its progress."""
        progress = await self._progress.read()
        may_start = progress.state in {"none", "failed"} and await self._is_eligible(viewer)
        return DemoStatus(may_start, progress)

    async def begin(self, viewer: AccountId) -> DemoStatus:
        """Start the demo for this account, unless it is running or done; refused where it is not offered."""
        if self._start is None or not await self._is_eligible(viewer):
            raise DemoNotOffered
        if (await self._progress.read()).state == "failed":
            await self._progress.clear()
        if await self._progress.claim():
            await self._start(viewer)
        return DemoStatus(is_offered=False, progress=await self._progress.read())

    async def _is_eligible(self, viewer: AccountId) -> bool:
        """Whether nobody but this account and the demo people has joined."""
        if self._start is None or not self._rooms.settings.demo_offered:
            return False
        usernames = frozenset(person.username for person in load_people())
        return not await self._rooms.accounts.exist_others(viewer, besides=usernames)


def progress_store(rooms: Rooms) -> JobProgressStore:
    """Where the progress of the demo is stored."""
    return JobProgressStore(rooms.redis, rooms.settings.namespace, JOB)
