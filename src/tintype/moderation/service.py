"""Reports, and what moderators do about them."""

from pathlib import Path

from shardwright.running import Queries, Shards
from tintype.accounts import Accounts
from tintype.base.jobs import Handler, Schedule
from tintype.base.outbox import Outbox
from tintype.comments import Comments
from tintype.graph import Sight
from tintype.posts import Posts

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))


class Moderation:
    """Reports, and what moderators do about them."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        sight: Sight,
        *,
        accounts: Accounts,
        posts: Posts,
        comments: Comments,
    ) -> None:
        self._shards, self._outbox, self._sight, self._accounts, self._posts, self._comments = (
            shards,
            outbox,
            sight,
            accounts,
            posts,
            comments,
        )

    def handlers(self) -> list[Handler]:
        """What this room does when something has happened."""
        return []

    def schedules(self) -> list[Schedule]:
        """What this room repeats by the clock."""
        return []
