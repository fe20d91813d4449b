"""Helpers for tests of stories: publish one, read the tray, and move the servers' clocks."""

from collections.abc import Iterable
from typing import Any, cast

import asyncpg

from tests.support import Person, let_pass, on_server, photo
from tintype.base.ids import AccountId
from tintype.stories import StoryId
from tintype.wiring import Rooms

HOUR_MS = 3_600_000
TIME_SHIFT = 23
SMALL = photo(64, 64)


def id_of(person: Person) -> AccountId:
    return AccountId(int(person.account_id))


async def upload(person: Person, kind: str = "story", content: bytes = SMALL) -> str:
    answer = await person.call(
        "POST",
        "/media/upload",
        files={"file": ("photo.jpg", content, "image/jpeg")},
        data={"kind": kind},
    )
    assert answer.status_code < 300, answer.text
    return answer.json()["media_id"]


async def publish_story(person: Person, **draft: Any) -> dict[str, Any]:
    """Upload a picture and publish it as a story."""
    body = {"media_id": await upload(person), **draft}
    answer = await person.call("POST", "/stories", json=body)
    assert answer.status_code == 201, answer.text
    await let_pass(answer.json()["story_id"])
    return answer.json()


async def tray(person: Person) -> dict[str, Any]:
    answer = await person.call("GET", "/stories/feed")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def tray_usernames(person: Person) -> list[str]:
    return [ring["username"] for ring in (await tray(person))["story_ring"]]


async def list_stories(viewer: Person, author: Person) -> list[str]:
    answer = await viewer.call("GET", f"/accounts/{author.account_id}/stories")
    assert answer.status_code == 200, answer.text
    return [story["story_id"] for story in answer.json()["stories"]]


async def status(person: Person, method: str, path: str, **options: Any) -> int:
    return (await person.call(method, path, **options)).status_code


async def handle(rooms: Rooms, *events: Any) -> None:
    """Run every handler of the room on these events, in this order."""
    for event in events:
        for handler in rooms.stories.handlers():
            if handler.event is type(event):
                await handler.run(event)


async def query(rooms: Rooms, near: int, statement: str) -> list[asyncpg.Record]:
    """The rows of a statement on the shard that an id names."""
    async with rooms.shards.owner(near).begin() as tx:
        return cast("list[asyncpg.Record]", await tx.connection.fetch(statement))


def server_of(rooms: Rooms, near: int) -> str:
    """The name of the server that stores what this id names."""
    return rooms.shards.map.owners[rooms.shards.shard_of(near)]


def story_id(story: dict[str, Any]) -> StoryId:
    return StoryId(int(story["story_id"]))


class ServerClock:
    """Moves the servers' clocks: the time that `story_now()` returns, and the time in the ids they generate."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._made: dict[int, str] = {}

    async def move(self, hours: float, servers: Iterable[str] | None = None) -> None:
        """Set the clocks so many hours ahead, on these servers or on all."""
        chosen = set(servers or self._rooms.shards.map.servers)
        for number, server in self._rooms.shards.map.owners.items():
            if server in chosen:
                await self._set(number, hours)
        self._rooms.stories.server_clocks.invalidate()

    async def reset(self) -> None:
        """Set all clocks back to the real time."""
        await self.move(0)

    async def _set(self, number: int, hours: float) -> None:
        schema, dsn = f"s{number:04}", self._dsn_of(number)
        if number not in self._made:
            rows = await on_server(dsn, f"SELECT pg_get_functiondef('{schema}.next_id()'::regprocedure)")
            self._made[number] = rows[0][0]
        head, _, expression = self._made[number].partition("RETURN ")
        shift = int(hours * HOUR_MS) << TIME_SHIFT
        await on_server(
            dsn,
            f"{head}RETURN ({expression.strip().rstrip(';')}) + {shift}::bigint",
            f"CREATE OR REPLACE FUNCTION {schema}.story_now() RETURNS timestamptz LANGUAGE sql STABLE "
            f"RETURN statement_timestamp() + make_interval(secs => {hours * 3600}::float8)",
        )

    def _dsn_of(self, number: int) -> str:
        name = self._rooms.shards.map.owners[number]
        return self._rooms.settings.postgres_admin[int(name.removeprefix("pg")) - 1]
