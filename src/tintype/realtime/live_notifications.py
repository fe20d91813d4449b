"""Live notifications: the unread count after each change of somebody's list, as an update of their log.

A post that is liked a thousand times a minute changes its author's list a thousand times: within a second only the
first change and the last are told. The count is absolute, so nothing is lost with those in between. Nobody
waits for it, and a process that dies may take one along: the next change, or the next read of the list, says the same.
"""

import asyncio
import secrets

from tintype.base.background_tasks import BackgroundTasks
from tintype.base.ids import AccountId
from tintype.notifications import UnreadChanged
from tintype.sync import Sync, Update

PAUSE_S = 1.0
KIND = "notification"


class LiveNotifications:
    """Appends changes of unread counts to the logs of their owners."""

    def __init__(self, sync: Sync, *, pause_s: float = PAUSE_S) -> None:
        self._sync, self._pause_s = sync, pause_s
        self._waiting: dict[AccountId, int | None] = {}
        """The latest count of those told less than a pause ago; None while there is no newer one."""
        self._tasks = BackgroundTasks()

    async def on_changed(self, changed: UnreadChanged) -> None:
        """Tell the owner of the list, now or at the end of the pause that has begun."""
        account_id = changed.account_id
        if account_id in self._waiting:
            self._waiting[account_id] = changed.unread_count
            return
        self._waiting[account_id] = None
        asyncio.get_running_loop().call_later(
            self._pause_s, self._tasks.start, lambda: self._end_pause(account_id)
        )
        self._tasks.start(lambda: self._append(account_id, changed.unread_count))

    async def _end_pause(self, account_id: AccountId) -> None:
        latest = self._waiting.pop(account_id)
        if latest is not None:
            await self.on_changed(UnreadChanged(account_id, latest))

    async def drain(self) -> None:
        """Wait for what is being appended."""
        await self._tasks.drain()

    async def _append(self, account_id: AccountId, unread_count: int) -> None:
        key = f"{KIND}:{secrets.token_hex(8)}"
        await self._sync.append([Update(account_id, key, KIND, {"unread_count": unread_count})])
