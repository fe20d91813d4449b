"""A lagging standby, named first in the server's address, changes nothing.

Stories end, are removed and become invisible at once; a standby shows the state of a moment ago. So the router reads
from primaries only, and a standby is there for failover. Here replay on the standby is paused from the start: a read
from it would find nothing of what these tests write.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import asyncpg
import msgspec
import pytest
from httpx import AsyncClient

from shardwright.errors import ServerUnavailable
from shardwright.local import LocalServer, make_standby
from shardwright.topology import open_connection
from tests.application import serve
from tests.stories.support import (
    ServerClock,
    id_of,
    list_stories,
    publish_story,
    status,
    story_id,
    tray_usernames,
)
from tests.support import Person, eventually, join
from tintype.base.settings import Settings
from tintype.schema import apply_schema
from tintype.wiring import Rooms, open_rooms

pytestmark = pytest.mark.slow
SMALL = {"shared_buffers": "32MB", "autovacuum": "off"}
IS_PAUSED = "SELECT pg_get_wal_replay_pause_state() = 'paused'"


@dataclass(frozen=True)
class Lagging:
    """An installation whose only server has a standby with replay paused."""

    rooms: Rooms
    primary: LocalServer
    standby: LocalServer

    @property
    def standby_dsn(self) -> str:
        return self.standby.dsn()

    async def on_standby(self, statement: str) -> object:
        connection = cast("asyncpg.Connection", await asyncpg.connect(self.standby_dsn))
        try:
            return cast("object", await connection.fetchval(statement))
        finally:
            await connection.close()

    async def knows_on_standby(self, table: str, row_id: int) -> bool:
        """Whether a row has reached the standby."""
        schema = self.rooms.shards.owner(row_id).schema
        return bool(
            await self.on_standby(f"SELECT EXISTS (SELECT FROM {schema}.{table} WHERE id = {row_id})")
        )


@pytest.fixture(scope="module")
async def lagging(settings: Settings, run_folder: Path) -> AsyncIterator[Lagging]:
    folder = Path(tempfile.mkdtemp(prefix="standby-", dir=run_folder))
    folder.chmod(0o711)  # noqa: ASYNC240 - one call; the account that runs the servers passes through
    primary = LocalServer(folder / "primary", durable=False, settings=SMALL)
    await asyncio.to_thread(primary.start)
    own = msgspec.structs.replace(
        settings,
        postgres=(primary.dsn(),),
        postgres_migrator=(),
        postgres_admin=(primary.dsn(),),
        namespace=f"{settings.namespace}_lagging",
        shard_count=4,
    )
    await apply_schema(own)
    standby = await asyncio.to_thread(make_standby, primary, folder / "standby")
    both = f"127.0.0.1:{standby.port},127.0.0.1:{primary.port}"
    address = urlsplit(primary.dsn())
    own = msgspec.structs.replace(
        own, postgres=(primary.dsn().replace(address.netloc.rpartition("@")[2], both),)
    )
    async with open_rooms(own, process="tests") as rooms:
        found = Lagging(rooms, primary, standby)
        await found.on_standby("SELECT pg_wal_replay_pause()")

        async def is_paused() -> bool:
            return bool(await found.on_standby(IS_PAUSED))

        await eventually(is_paused, what="replay is paused")
        yield found
    for server in (standby, primary):
        await asyncio.to_thread(server.stop, mode="immediate")
    await rooms.redis.aclose()


@pytest.fixture
async def client(lagging: Lagging) -> AsyncIterator[AsyncClient]:
    async with serve(lagging.rooms) as client:
        yield client
    await lagging.rooms.redis.flushdb()


@pytest.fixture
async def people(client: AsyncClient, request: pytest.FixtureRequest) -> tuple[Person, Person]:
    """An author, and somebody who follows them."""
    number = abs(hash(request.node.name)) % 1_000_000
    author, viewer = await join(client, f"author{number}"), await join(client, f"viewer{number}")
    await viewer.call("PUT", f"/accounts/{author.account_id}/follow")
    return author, viewer


async def test_a_published_story_is_visible_at_once_and_a_removed_one_is_not(
    lagging: Lagging, people: tuple[Person, Person]
) -> None:
    author, viewer = people

    story = await publish_story(author)

    assert await list_stories(author, author) == [story["story_id"]]
    assert await tray_usernames(viewer) == [author.username]
    assert not await lagging.knows_on_standby("stories", story_id(story)), "the standby lags"

    await author.call("DELETE", f"/stories/{story['story_id']}")

    assert await tray_usernames(viewer) == []
    assert await status(viewer, "GET", f"/stories/{story['story_id']}") == 404


async def test_unfollowing_and_blocking_take_effect_at_once(people: tuple[Person, Person]) -> None:
    author, viewer = people
    story = await publish_story(author)
    post = await author.publish()

    await viewer.call("DELETE", f"/accounts/{author.account_id}/follow")
    assert await tray_usernames(viewer) == []
    assert (await viewer.feed())["posts"] == []

    await author.call("PUT", f"/blocks/{viewer.account_id}")
    assert await status(viewer, "GET", f"/stories/{story['story_id']}") == 404
    assert await status(viewer, "GET", f"/posts/{post['post_id']}") == 404


async def test_ones_own_post_is_in_the_feed_at_once_and_a_deleted_one_is_gone(
    lagging: Lagging, people: tuple[Person, Person]
) -> None:
    author, viewer = people
    post = await author.publish()
    path = f"/posts/{post['post_id']}"
    await viewer.feed()

    assert [each["post_id"] for each in (await author.feed())["posts"]] == [post["post_id"]]
    assert not await lagging.knows_on_standby("posts", int(post["post_id"])), "the standby lags"

    await author.call("DELETE", path)

    assert (await author.feed())["posts"] == []
    assert (await viewer.feed())["posts"] == []
    assert await status(viewer, "GET", path) == 404


async def test_over_several_days_nothing_that_has_ended_is_served(
    lagging: Lagging, people: tuple[Person, Person]
) -> None:
    rooms, (author, viewer) = lagging.rooms, people
    clock = ServerClock(rooms)
    days_at_first = await lagging.on_standby(
        "SELECT count(*) FROM pg_class WHERE relname LIKE 'stories\\_\\_2%' AND relkind = 'r'"
    )
    for day in range(1, 4):
        story = await publish_story(author)
        assert await list_stories(viewer, author) == [story["story_id"]]

        await clock.move(25 * day)
        await rooms.stories.rotate_partitions()

        assert await list_stories(viewer, author) == []
        assert await tray_usernames(viewer) == []
        assert await status(viewer, "GET", f"/stories/{story['story_id']}") == 404
        assert await rooms.stories.find_many([story_id(story)], viewer=id_of(author)) == {}
    assert days_at_first == await lagging.on_standby(
        "SELECT count(*) FROM pg_class WHERE relname LIKE 'stories\\_\\_2%' AND relkind = 'r'"
    ), "the standby still has its first partitions"


async def test_a_standby_alone_is_refused(lagging: Lagging) -> None:
    with pytest.raises(ServerUnavailable):
        await open_connection(lagging.standby_dsn, "a standby")


async def test_the_standby_takes_over_after_a_failover(
    lagging: Lagging, people: tuple[Person, Person]
) -> None:
    author, viewer = people
    story = await publish_story(author)
    await lagging.on_standby("SELECT pg_wal_replay_resume()")

    async def has_caught_up() -> bool:
        return await lagging.knows_on_standby("stories", story_id(story))

    await eventually(has_caught_up, what="the standby knows the story")
    await asyncio.to_thread(lagging.primary.crash)
    await asyncio.to_thread(lagging.standby.promote)

    async def is_shown() -> bool:
        answer = await viewer.call("GET", f"/accounts/{author.account_id}/stories")
        return answer.status_code == 200 and len(answer.json()["stories"]) == 1

    await eventually(is_shown, what="stories are read from the new primary")
    again = await publish_story(author)
    assert await list_stories(viewer, author) == [story["story_id"], again["story_id"]]
