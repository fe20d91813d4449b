"""Tells people what happened to them."""

from pathlib import Path

from shardwright.running import Queries, Shards
from tintype.base.jobs import Handler, Schedule
from tintype.base.outbox import Outbox
from tintype.base.settings import Settings
from tintype.comments import Comments
from tintype.graph import Sight
from tintype.posts import Posts

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))


class Notifications:
    """Tells people what happened to them."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        sight: Sight,
        *,
        posts: Posts,
        comments: Comments,
        settings: Settings,
    ) -> None:
        self._shards, self._outbox, self._sight, self._posts, self._comments, self._settings = (
            shards,
            outbox,
            sight,
            posts,
            comments,
            settings,
        )

    def handlers(self) -> list[Handler]:
        """What this room does when something has happened."""
        return []

    def schedules(self) -> list[Schedule]:
        """What this room repeats by the clock."""
        return []
