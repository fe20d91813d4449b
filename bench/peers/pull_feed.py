"""Our application with a pull-only feed: every read fetches the newest posts of everybody followed from the shards.

Everything else is ours: HTTP, sessions, cached posts, visibility, response fragments. So the difference is
what timelines are worth. Started with `python -m bench.peers.pull_feed PORT`.
"""

import dataclasses
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

from granian.constants import Interfaces, Loops
from granian.log import LogLevels
from granian.server import Server

from shardwright.routing import Queries
from tintype.api import RequestLog, create_app
from tintype.base.ids import AccountId, PostId
from tintype.base.log import set_up_log
from tintype.base.settings import Settings
from tintype.cli.running_stack import running_settings
from tintype.feed import FeedPage, Hydrator, ViewerStates
from tintype.redis.viewer_invalidation import ViewerInvalidation
from tintype.wiring import Rooms, open_rooms

QUERIES = Queries.parse("""
-- name: gather_newest
SELECT newest.id FROM unnest(:ids::bigint[]) AS author (id)
CROSS JOIN LATERAL (
    SELECT p.id FROM posts AS p
    WHERE p.author_id = author.id AND p.archived_at IS NULL AND p.hidden_at IS NULL AND p.deleted_at IS NULL
    ORDER BY p.id DESC LIMIT :limit_each::int
) AS newest;
""")


class PullFeed:
    """Reads pages from the shards, without timelines."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        invalidation = ViewerInvalidation(rooms.cache.redis_client, rooms.settings.namespace)
        self._hydrator = Hydrator(
            rooms.shards,
            rooms.cache,
            rooms.posts,
            rooms.accounts,
            viewer_states=ViewerStates(rooms.shards, invalidation),
        )

    async def read(self, viewer: AccountId, *, limit: int, **_: Any) -> FeedPage:
        """The newest page. The PING satisfies the client-side cache's rule: await a Redis reply before reading it."""
        await self._rooms.cache.redis_client.execute(("PING",))
        followed = await self._rooms.graph.list_followees(viewer)
        found = await self._rooms.shards.gather(QUERIES.gather_newest, [viewer, *followed], limit_each=limit)
        ids = sorted((PostId(row["id"]) for row in found.complete()), reverse=True)[:limit]
        return FeedPage(await self._hydrator.read(viewer, ids), None)


@asynccontextmanager
async def open_rooms_with_pull_feed(settings: Settings) -> AsyncGenerator[Rooms]:
    """Open the rooms with the pull-only feed in place of ours."""
    async with open_rooms(settings, process="web") as rooms:
        yield dataclasses.replace(rooms, feed=cast("Any", PullFeed(rooms)))


def load_app() -> object:
    """Create the ASGI app; called by granian."""
    settings = running_settings()
    set_up_log(settings, process="web")
    return RequestLog(create_app(settings, open_with=lambda: open_rooms_with_pull_feed(settings)))


if __name__ == "__main__":
    Server(
        "bench.peers.pull_feed:load_app",
        factory=True,
        address="127.0.0.1",
        port=int(sys.argv[1]),
        interface=Interfaces.ASGI,
        loop=Loops.uvloop,
        workers=1,
        log_access=False,
        log_level=LogLevels.warning,
    ).serve()
