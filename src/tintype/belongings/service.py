"""Exports and departures behind one door: long work over every room, in steps that can be repeated."""

from collections.abc import Mapping
from pathlib import Path

from shardwright.running import Shards
from tintype.accounts import Accounts
from tintype.base.belongings import Belongings
from tintype.base.jobs import Handler, Schedule
from tintype.base.limits import Limiter
from tintype.base.outbox import Outbox
from tintype.belongings.departing import QUERIES, Leaving
from tintype.belongings.exporting import Exports
from tintype.media import Storage

__all__ = ["QUERIES", "Departures"]


class Departures:
    """Hands out and lets go what belongs to a person, room by room."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        accounts: Accounts,
        rooms: Mapping[str, Belongings],
        *,
        last: Belongings | None,
        storage: Storage,
        limiter: Limiter,
        work_folder: Path,
        grace_days: int,
    ) -> None:
        """`rooms` are emptied in their order; `last` holds the account itself and goes when all are empty."""
        exported = {**({"accounts": last} if last else {}), **rooms}
        self.exports = Exports(
            shards, outbox, exported, storage=storage, limiter=limiter, work_folder=work_folder
        )
        self.leaving = Leaving(
            shards, outbox, accounts, {**rooms, "exports": self.exports}, last=last, grace_days=grace_days
        )

    def handlers(self) -> list[Handler]:
        """What this room does when something has happened."""
        return [*self.exports.handlers(), *self.leaving.handlers()]

    def schedules(self) -> list[Schedule]:
        """What this room repeats by the clock."""
        return [*self.exports.schedules(), *self.leaving.schedules()]
