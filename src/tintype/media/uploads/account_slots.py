"""How many files of one account this process works on at a time, so that nobody's fifty clips delay another's photo."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from tintype.base.ids import AccountId

PER_ACCOUNT = 2


@dataclass
class _Slots:
    free: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(PER_ACCOUNT))
    users: int = 0


class AccountSlots:
    """Gives each account two slots; whoever finds none free waits for another of the same account."""

    def __init__(self) -> None:
        self._slots: dict[AccountId, _Slots] = {}

    @contextlib.asynccontextmanager
    async def slot(self, account_id: AccountId) -> AsyncGenerator[None]:
        """Hold a slot of this account for the length of the block."""
        slots = self._slots.setdefault(account_id, _Slots())
        slots.users += 1
        try:
            async with slots.free:
                yield
        finally:
            slots.users -= 1
            if not slots.users:
                self._slots.pop(account_id, None)
