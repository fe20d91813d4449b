"""The room's named queries, loaded once for all of its files, and what its parts work with."""

from dataclasses import dataclass
from pathlib import Path

from shardwright.running import Queries, Shards
from tintype.accounts import Accounts
from tintype.base.limits import Limiter
from tintype.base.outbox import Outbox
from tintype.base.ties import Ties

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
POPULAR_KEY = "popular"
"""Its hash gives the shard that keeps the ranking of popular accounts."""


@dataclass(frozen=True)
class Desk:
    """What the parts of the room share."""

    shards: Shards
    outbox: Outbox
    accounts: Accounts
    limiter: Limiter
    ties: Ties


class AtDesk:
    """A part of the room."""

    def __init__(self, desk: Desk) -> None:
        self._shards, self._outbox, self._accounts = desk.shards, desk.outbox, desk.accounts
        self._limiter, self._ties = desk.limiter, desk.ties
