"""What many tests do: join, post a photo, wait for the worker."""

import asyncio
import io
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, cast
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import msgspec
from httpx import AsyncClient
from PIL import Image

from shardwright.ids import Layout
from tintype.base.ids import AccountId
from tintype.base.settings import Settings
from tintype.schema import ensure_database_roles
from tintype.wiring import Rooms
from tintype.worker import connect_to_server

PATIENCE_S = 60.0
PASSWORD = "correct horse battery"


@dataclass(frozen=True)
class Person:
    """Somebody with an account, who talks to the API with a bearer token."""

    client: AsyncClient
    account_id: str
    username: str
    token: str

    async def call(self, method: str, path: str, **options: Any) -> Any:
        """Send a request as this person."""
        headers = {"Authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        return await self.client.request(method, f"/api/v1{path}", headers=headers, **options)

    async def upload(self, content: bytes | None = None) -> Any:
        """Upload a photo."""
        return await self.call(
            "POST", "/media/upload", files={"file": ("photo.jpg", content or photo(), "image/jpeg")}
        )

    async def publish(self, caption: str = "") -> dict[str, Any]:
        """Upload a photo and post it."""
        media_id = (await self.upload()).json()["media_id"]
        answer = await self.call("POST", "/posts", json={"media_ids": [media_id], "caption": caption})
        assert answer.status_code == 201, answer.text
        return answer.json()

    async def feed(self, **params: Any) -> dict[str, Any]:
        """Read a page of the feed."""
        answer = await self.call("GET", "/feed", params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()


async def let_pass(made: str | int) -> None:
    """Wait until the clock is past the time in an id, so that what is made next has a later id, whatever its shard.

    A shard's ids may run 17 ms ahead of its clock, so those of different shards need not tell apart what is closer.
    Where a test has set a server's clock ahead, there is nothing to wait for.
    """
    ahead = Layout().id_time(int(made)) + timedelta(milliseconds=1) - datetime.now(UTC)
    if timedelta() < ahead < timedelta(seconds=1):
        await asyncio.sleep(ahead.total_seconds())


async def set_status(rooms: Rooms, account_id: AccountId, status: str) -> None:
    """Bring an account from `active` into a status, or back, as moderators and its owner do."""
    accounts = rooms.accounts
    changes = {
        "active": accounts.restore,
        "suspended": accounts.suspend,
        "deactivated": accounts.deactivate,
        "leaving": accounts.begin_deletion,
    }
    await changes[status](account_id)


async def join(client: AsyncClient, username: str) -> Person:
    """Sign somebody up."""
    answer = await client.post("/api/v1/accounts", json={"username": username, "password": PASSWORD})
    assert answer.status_code == 201, answer.text
    client.cookies.clear()
    body = answer.json()
    return Person(client, body["account"]["account_id"], username, body["token"])


@cache
def photo(width: int = 640, height: int = 480, *, kind: str = "JPEG") -> bytes:
    """A small picture, made here."""
    buffer = io.BytesIO()
    Image.linear_gradient("L").resize((width, height)).convert("RGB").save(buffer, kind)
    return buffer.getvalue()


async def wait_past(rooms: Rooms, any_id: int) -> None:
    """Wait until the clock is past the time in an id: ids that any shard makes from now on are larger.

    Without it, ids of two shards within some milliseconds have no promised order (ADR 3).
    """
    moment = rooms.shards.map.layout.id_time(any_id) + timedelta(milliseconds=1)
    while datetime.now(UTC) < moment:  # noqa: ASYNC110 - the clock tells nobody
        await asyncio.sleep(0.001)


async def eventually(
    is_true: Callable[[], Awaitable[bool]], *, what: str, patience_s: float = PATIENCE_S
) -> None:
    """Wait until something has become true; fail with a name for it when it does not."""
    deadline = asyncio.get_running_loop().time() + patience_s
    while not await is_true():
        assert asyncio.get_running_loop().time() < deadline, f"did not happen: {what}"
        await asyncio.sleep(0.05)


async def on_server(dsn: str, *statements: str) -> list[asyncpg.Record]:
    """Run statements on a server, past every router; returns the rows of all of them."""
    found: list[asyncpg.Record] = []
    async with connect_to_server(dsn) as connection:
        for statement in statements:
            found += cast("list[asyncpg.Record]", await connection.fetch(statement))
    return found


async def make_databases(dsns: Sequence[str], name: str, *, template: str = "template1") -> list[str]:
    """A fresh database of this name on each server, a copy of the template; returns their addresses."""
    made: list[str] = []
    for dsn in dsns:
        await on_server(
            dsn,
            f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)',
            f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY file_copy',
        )
        made.append(urlunsplit(urlsplit(dsn)._replace(path=f"/{name}")))
    return made


async def with_roles(settings: Settings) -> Settings:
    """The same settings on roles of their own: what the application does in tests, it does without DDL."""
    roles = (await ensure_database_roles(settings)).addresses
    return msgspec.structs.replace(
        settings,
        postgres=tuple(roles[f"{settings.namespace}_runtime"]),
        postgres_migrator=tuple(roles[f"{settings.namespace}_migrator"]),
    )


_LIST_TABLES = """
SELECT format('%I.%I', n.nspname, c.relname) AS name
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND ((n.nspname ~ '^s[0-9]{4}$' AND c.relname <> 'schema_version') OR (n.nspname, c.relname) = ('common', 'outbox'))
"""


class RowCleaner:
    """Empties every table of every shard and the outboxes, over one connection to each server.

    Most tables are empty after most tests: looking costs microseconds once its plan is cached, truncating costs a file.
    """

    def __init__(self, connections: Sequence[asyncpg.Connection]) -> None:
        self._connections = connections

    @classmethod
    @asynccontextmanager
    async def open(cls, dsns: Sequence[str]) -> AsyncGenerator["RowCleaner"]:
        """Connect to the servers, whose tables must exist already."""
        async with AsyncExitStack() as stack:
            connections = [await stack.enter_async_context(connect_to_server(dsn)) for dsn in dsns]
            for connection in connections:
                rows = cast("list[asyncpg.Record]", await connection.fetch(_LIST_TABLES))
                tables = [str(row["name"]) for row in rows]
                steps = "\n".join(
                    f"IF EXISTS (SELECT FROM {table}) THEN DELETE FROM {table}; END IF;" for table in tables
                )
                await connection.execute(
                    f"CREATE FUNCTION pg_temp.delete_all() RETURNS void LANGUAGE plpgsql AS $$ BEGIN {steps} END $$"
                )
                # Foreign keys and guards do not matter when all goes.
                await connection.execute("SET session_replication_role = replica")
            yield cls(connections)

    async def run(self) -> None:
        """Delete all rows."""
        await asyncio.gather(*(each.execute("SELECT pg_temp.delete_all()") for each in self._connections))


async def delete_all_rows(rooms: Rooms) -> None:
    """Empty every table of every shard and the outboxes, once."""
    async with RowCleaner.open(rooms.settings.postgres_admin) as cleaner:
        await cleaner.run()
