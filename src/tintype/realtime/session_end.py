"""Cuts the connections of ended sessions and of accounts that are not active any more."""

import asyncio

from tintype.accounts import SessionsEnded, StatusChanged
from tintype.base.background_tasks import BackgroundTasks
from tintype.base.ids import AccountId
from tintype.base.jobs import Handler, on
from tintype.realtime.system_account import SystemAccount

SECOND_LOOK_S = 3.0
"""NATS waits for the callout for less than this: a connection that was just being admitted is known by then."""


class SessionEnd:
    """Cuts connections when sessions end: sign-out, new password, suspension, deletion, revocation."""

    def __init__(self, system: SystemAccount) -> None:
        self._system, self._tasks = system, BackgroundTasks()

    def handlers(self) -> list[Handler]:
        """The handlers of the events that end sessions."""
        return [
            on(SessionsEnded, self.on_sessions_ended, name="realtime-sessions"),
            on(StatusChanged, self.on_status_changed, name="realtime-status"),
        ]

    async def on_sessions_ended(self, ended: SessionsEnded) -> None:
        """Cut the connections of these sessions; of all, where none is named."""
        await self._cut_twice(ended.account_id, frozenset(int(each) for each in ended.session_ids))

    async def on_status_changed(self, changed: StatusChanged) -> None:
        """Cut all connections of an account that was suspended, deactivated or is being deleted."""
        if changed.status != "active":
            await self._cut_twice(changed.account_id, frozenset())

    async def _cut_twice(self, account_id: AccountId, sessions: frozenset[int]) -> None:
        def is_meant(session_id: int) -> bool:
            return not sessions or session_id in sessions

        async def look_again() -> None:
            await asyncio.sleep(SECOND_LOOK_S)
            await self._system.cut(account_id, is_meant)

        await self._system.cut(account_id, is_meant)
        self._tasks.start(look_again)
