"""Posts that people keep for themselves."""

from collections.abc import Iterable
from pathlib import Path

from shardwright.running import Queries, Shards
from tintype.base.ids import AccountId, PostId
from tintype.base.jobs import Handler, Schedule
from tintype.base.outbox import Outbox
from tintype.graph import Sight
from tintype.posts import Posts

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))


class Saves:
    """Posts that people keep for themselves."""

    def __init__(self, shards: Shards, outbox: Outbox, sight: Sight, posts: Posts) -> None:
        self._shards, self._outbox, self._sight, self._posts = shards, outbox, sight, posts

    async def which_saved(self, _viewer: AccountId, _post_ids: Iterable[PostId]) -> set[PostId]:
        """Those of the posts that the viewer keeps."""
        return set()

    def handlers(self) -> list[Handler]:
        """What this room does when something has happened."""
        return []

    def schedules(self) -> list[Schedule]:
        """What this room repeats by the clock."""
        return []
