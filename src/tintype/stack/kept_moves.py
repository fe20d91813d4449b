"""Upkeep of moved shards: ends moves whose old copies are no longer wanted, and keeps the others' partitions equal.

Only a superuser may do that, so it is the supervisor's work: neither web nor worker processes have such an address.
Where several supervisors run on the same servers, one does it at a time.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic

from shardwright.moves import Move, Mover
from shardwright.topology import Directory
from tintype.base.router_addresses import with_login
from tintype.stack.connections import Connections
from tintype.stack.plan import StackPlan

LOOK_EVERY_S = 60.0
TEND_EVERY_S = 600.0
"""How often old copies get the partitions of their owner: those are created days before they are written to."""


@dataclass
class MoveUpkeep:
    """Looks after the moves of one installation."""

    directory: str = field(repr=False)
    dsns: Mapping[str, str] = field(repr=False)
    """The servers by name, as a superuser."""
    write_log: Callable[[str], None]
    _tended_at: float = float("-inf")
    _problem: str = ""

    @classmethod
    def of(
        cls, plan: StackPlan, connections: Connections, write_log: Callable[[str], None]
    ) -> "MoveUpkeep | None":
        """The upkeep of this stack; None where nobody has given it the address of a superuser."""
        admin = connections.postgres_admin or plan.postgres_admin
        if not any(admin):
            return None
        directory = plan.directory or (connections.postgres_migrator or connections.postgres)[0]
        named = {f"pg{number}": dsn for number, dsn in enumerate(admin, start=1) if dsn}
        return cls(directory, with_login(named), write_log)

    async def run(self) -> None:
        """Look for something to do every now and then, until cancelled."""
        while True:
            try:
                await self.tend()
            except Exception as error:  # noqa: BLE001 - the supervisor goes on, and so does this
                self._note(f"moves of shards could not be looked after: {str(error) or repr(error)}")
            else:
                self._problem = ""
            await asyncio.sleep(LOOK_EVERY_S)

    async def tend(self) -> None:
        """End what is over; now and then, look after what is kept."""
        directory = await Directory.open(self.directory, dsns=self.dsns)
        try:
            mover = Mover(directory)
            if self._has_work(await mover.moves()):
                ended = await mover.tend()
                self._tended_at = monotonic()
                for move in ended:
                    self.write_log(f"{move} has ended: its old copies are dropped")
        finally:
            await directory.close()

    def _has_work(self, moves: list[Move]) -> bool:
        is_time = monotonic() - self._tended_at >= TEND_EVERY_S
        now = datetime.now(UTC)
        return any(move.is_over(now) or (move.is_kept and is_time) for move in moves)

    def _note(self, problem: str) -> None:
        """Log a problem once, as long as it stays the same."""
        if problem != self._problem:
            self._problem = problem
            self.write_log(problem)
