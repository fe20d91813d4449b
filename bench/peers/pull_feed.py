"""Our house with a feed that keeps nothing ready: every read asks the shards for the newest posts of all one follows.

The rest is ours: HTTP, sessions, cached posts, the check of what may be seen, the spliced answer. So the difference is
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

from shardwright.running import Queries
from tintype.api import RequestLog, create_app
from tintype.base.ids import AccountId, PostId
from tintype.base.log import set_up_log
from tintype.base.settings import Settings
from tintype.base.ties import Ties
from tintype.cli.running import running_settings
from tintype.feed import FeedPage, Stances, Visible
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
    """Reads pages from the shards alone."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        stances = Stances(rooms.shards, Ties(rooms.cache.wire, rooms.settings.namespace))
        self._visible = Visible(rooms.shards, rooms.cache, rooms.posts, rooms.accounts, stances=stances)

    async def read(self, viewer: AccountId, *, limit: int, **_: Any) -> FeedPage:
        """The newest page. Redis is asked something first, as `Visible` wants it."""
        await self._rooms.cache.wire.ask(("PING",))
        followed = await self._rooms.graph.list_followees(viewer)
        found = await self._rooms.shards.gather(QUERIES.gather_newest, [viewer, *followed], limit_each=limit)
        ids = sorted((PostId(row["id"]) for row in found.complete()), reverse=True)[:limit]
        return FeedPage(await self._visible.read(viewer, ids), None)


@asynccontextmanager
async def open_pulling(settings: Settings) -> AsyncGenerator[Rooms]:
    """The rooms, with that feed."""
    async with open_rooms(settings, process="web") as rooms:
        yield dataclasses.replace(rooms, feed=cast("Any", PullFeed(rooms)))


def load_app() -> object:
    """The application."""
    settings = running_settings()
    set_up_log(settings, process="web")
    return RequestLog(create_app(settings, open_with=lambda: open_pulling(settings)))


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
