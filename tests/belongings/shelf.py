"""A room that keeps things in memory, and can be told to fail: for tests of the work over all rooms."""

from collections.abc import AsyncIterator

from tintype.base.belongings import Record
from tintype.base.ids import AccountId


class Killed(Exception):
    """The worker ended here."""


class Shelf:
    """Some things of everybody's, erased two at a time."""

    def __init__(self, count: int, *, dies_at: int = -1) -> None:
        self.left, self.dies_at, self.steps = count, dies_at, 0

    async def export(self, account_id: AccountId) -> AsyncIterator[Record]:
        for number in range(self.left):
            self._step()
            yield Record("things.json", {"number": number, "of": str(account_id)})

    async def erase(self, account_id: AccountId) -> int:  # noqa: ARG002 - a room is asked by name
        self._step()
        taken = min(2, self.left)
        self.left -= taken
        self._step()
        return taken

    async def count_left(self, account_id: AccountId) -> int:  # noqa: ARG002 - likewise
        self._step()
        return self.left

    def _step(self) -> None:
        self.steps += 1
        if self.steps == self.dies_at:
            raise Killed
