"""The ranking room as others use it."""

from collections.abc import Iterable, Sequence
from typing import Any

from tintype.base.ids import AccountId, PostId
from tintype.base.jobs import Handler, Schedule
from tintype.base.wire import Command, Wire
from tintype.ranking.models import Ranked


class Ranking:
    """Orders posts for viewers."""

    def __init__(self, wire: Wire, namespace: str) -> None:
        self._wire, self._prefix = wire, f"{namespace}:ranking:"

    def ask(self, viewer: AccountId) -> list[Command]:  # noqa: ARG002 - every viewer will be asked about alike
        """What must be read of the viewer before ranking, so that the caller can send it along with its own."""
        return []

    async def rank(
        self,
        viewer: AccountId,  # noqa: ARG002 - newest first is the same for everybody
        candidates: Sequence[PostId],
        replies: Sequence[Any],  # noqa: ARG002 - nothing was asked
    ) -> list[Ranked]:
        """The candidates, best first; `replies` are the answers to what `ask` named."""
        return [Ranked(each, float(each)) for each in sorted(candidates, reverse=True)]

    async def affinities(self, viewer: AccountId, others: Iterable[AccountId]) -> dict[AccountId, float]:  # noqa: ARG002 - nothing is known of anybody yet
        """How close the viewer is to each of the others, from nothing to one."""
        return dict.fromkeys(others, 0.0)

    def handlers(self) -> list[Handler]:
        """What this room does when something has happened."""
        return []

    def schedules(self) -> list[Schedule]:
        """What this room repeats by the clock."""
        return []
