"""Exports and departures: long work over every room, in steps that can be repeated."""

from collections.abc import Mapping
from pathlib import Path

from shardwright.running import Queries, Shards
from tintype.accounts import Accounts
from tintype.base.belongings import Belongings
from tintype.base.jobs import Handler, Schedule
from tintype.base.outbox import Outbox

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))


class Departures:
    """Hands out and lets go what belongs to a person, room by room."""

    def __init__(
        self, shards: Shards, outbox: Outbox, accounts: Accounts, rooms: Mapping[str, Belongings]
    ) -> None:
        self._shards, self._outbox, self._accounts, self._rooms = shards, outbox, accounts, rooms

    def handlers(self) -> list[Handler]:
        """What this room does when something has happened."""
        return []

    def schedules(self) -> list[Schedule]:
        """What this room repeats by the clock."""
        return []
