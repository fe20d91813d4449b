"""A `PersonalDataHolder` in memory that can be made to fail: for tests of exports and erasure."""

from collections.abc import AsyncIterator

from tintype.base.ids import AccountId
from tintype.base.personal_data import ExportRecord


class Killed(Exception):
    """The worker was killed at this step."""


class FakeHolder:
    """Some records of every account, erased two at a time."""

    def __init__(self, count: int, *, dies_at: int = -1) -> None:
        self.left, self.dies_at, self.steps = count, dies_at, 0

    async def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        for number in range(self.left):
            self._step()
            yield ExportRecord("things.json", {"number": number, "of": str(account_id)})

    async def erase(self, account_id: AccountId) -> int:  # noqa: ARG002 - the protocol names it
        self._step()
        erased = min(2, self.left)
        self.left -= erased
        self._step()
        return erased

    async def count_left(self, account_id: AccountId) -> int:  # noqa: ARG002 - likewise
        self._step()
        return self.left

    def _step(self) -> None:
        self.steps += 1
        if self.steps == self.dies_at:
            raise Killed
