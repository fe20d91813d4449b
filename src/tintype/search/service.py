"""Finds people, tags and places."""

from pathlib import Path

from shardwright.running import Queries, Shards
from tintype.accounts import Accounts
from tintype.base.jobs import Handler, Schedule
from tintype.base.outbox import Outbox
from tintype.graph import Sight
from tintype.posts import Posts

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))


class Search:
    """Finds people, tags and places."""

    def __init__(
        self, shards: Shards, outbox: Outbox, sight: Sight, accounts: Accounts, posts: Posts
    ) -> None:
        self._shards, self._outbox, self._sight, self._accounts, self._posts = (
            shards,
            outbox,
            sight,
            accounts,
            posts,
        )

    def handlers(self) -> list[Handler]:
        """What this room does when something has happened."""
        return []

    def schedules(self) -> list[Schedule]:
        """What this room repeats by the clock."""
        return []
