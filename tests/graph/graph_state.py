"""The rows of the graph on all shards, for tests that compare them with what should be there."""

import asyncio
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import asyncpg
from httpx import AsyncClient

from shardwright.errors import ServerUnavailable
from shardwright.routing import Queries
from tests.support import join, on_server
from tintype.accounts import PrivacyChanged
from tintype.base.events import Event
from tintype.base.ids import AccountId
from tintype.wiring import Rooms

Pair = tuple[AccountId, AccountId]
QUERIES = Queries.parse("""
-- name: set_privacy
UPDATE accounts SET is_private = :is_private WHERE id = :id;
-- name: set_status
UPDATE accounts SET status = :status WHERE id = :id;
""")


@dataclass(frozen=True)
class GraphState:
    """Both sides of all follows and blocks, and the counts."""

    truth: dict[Pair, str]
    mirror: dict[Pair, str]
    blocks: set[Pair]
    blocked_by: set[Pair]
    counts: dict[AccountId, tuple[int, int]]

    def check(self) -> None:
        """Both sides agree, and counts are those of the rows."""
        assert self.truth == self.mirror
        assert self.blocks == self.blocked_by
        active = [pair for pair, state in self.truth.items() if state == "active"]
        followers, following = Counter(b for _, b in active), Counter(a for a, _ in active)
        assert self.counts == {each: (followers[each], following[each]) for each in self.counts}
        for one, other in self.blocks:
            assert (one, other) not in self.truth
            assert (other, one) not in self.truth


async def rows_of(rooms: Rooms, query: str) -> list[asyncpg.Record]:
    """Rows of all shards, read without the router."""
    found: list[asyncpg.Record] = []
    for dsn in rooms.settings.postgres_admin:
        schemas = await on_server(dsn, "SELECT nspname FROM pg_namespace WHERE nspname ~ '^s[0-9]{4}$'")
        union = " UNION ALL ".join(query.replace("{s}", str(row["nspname"])) for row in schemas)
        found += await on_server(dsn, union)
    return found


async def read_graph(rooms: Rooms) -> GraphState:
    """The current rows of all shards."""

    def state(is_requested: bool) -> str:
        return "requested" if is_requested else "active"

    truth = await rows_of(rooms, "SELECT account_id, followee_id, is_requested FROM {s}.following")
    mirror = await rows_of(
        rooms,
        "SELECT follower_id, account_id, is_requested FROM {s}.followers WHERE is_active OR is_requested",
    )
    blocks = await rows_of(rooms, "SELECT account_id, blocked_id FROM {s}.blocks")
    blocked_by = await rows_of(rooms, "SELECT blocker_id, account_id FROM {s}.blocked_by WHERE is_active")
    counts = await rows_of(rooms, "SELECT id, follower_count, following_count FROM {s}.accounts")
    return GraphState(
        {(a, b): state(c) for a, b, c in truth},
        {(a, b): state(c) for a, b, c in mirror},
        {(a, b) for a, b in blocks},
        {(a, b) for a, b in blocked_by},
        {each: (followers, following) for each, followers, following in counts},
    )


async def sign_up_people(client: AsyncClient, *names: str) -> list[AccountId]:
    """Sign people up; only their ids matter."""
    return [AccountId(int((await join(client, name)).account_id)) for name in names]


async def set_private(rooms: Rooms, account: AccountId, *, is_private: bool, quietly: bool = False) -> None:
    """Change somebody's privacy as the accounts room does; `quietly` skips caches and handlers."""
    await rooms.shards.owner(account).execute(QUERIES.set_privacy, id=account, is_private=is_private)
    if not quietly:
        await rooms.accounts.invalidate(account)
        await rooms.graph.approve_all(PrivacyChanged(account, is_private))


async def set_status(rooms: Rooms, account: AccountId, status: str) -> None:
    """Change the status of an account."""
    await rooms.shards.owner(account).execute(QUERIES.set_status, id=account, status=status)
    await rooms.accounts.invalidate(account)


async def announced(rooms: Rooms) -> dict[tuple[str, int], Event]:
    """Every event in the outboxes, by server and row."""
    found: dict[tuple[str, int], Event] = {}
    for dsn in rooms.settings.postgres_admin:
        for row in await on_server(dsn, "SELECT id, event, payload FROM common.outbox ORDER BY id"):
            found[dsn, row["id"]] = Event.known[row["event"]].decode(row["payload"])
    return found


async def deliver(rooms: Rooms, event: Event) -> None:
    """Hand an event to every handler of the graph, as the worker would."""
    for handler in rooms.graph.handlers():
        if handler.event is type(event):
            await handler.run(event)


async def deliver_all(rooms: Rooms, *, reverse: bool = False) -> None:
    """Deliver all events, and the events that their handlers add, until there are no new ones."""
    done: set[tuple[str, int]] = set()
    while new := {key: event for key, event in (await announced(rooms)).items() if key not in done}:
        for key in sorted(new, reverse=reverse):
            await deliver(rooms, new[key])
        done |= set(new)


@contextmanager
def losing(rooms: Rooms, is_lost: Callable[[], bool]) -> Generator[None]:
    """The other shard is unavailable whenever `is_lost` says so: mirroring and correcting at once fail."""
    parts: list[tuple[Any, str]] = [
        (rooms.graph._mirror, "apply"),
        (rooms.graph._mirror, "correct"),
        (rooms.graph._blocks, "apply"),
    ]

    def unreliable(run: Callable[..., Any]) -> Callable[..., Any]:
        async def call(event: Event, **options: Any) -> Any:
            await asyncio.sleep(0)
            if is_lost():
                raise ServerUnavailable("lost on purpose")
            return await run(event, **options)

        return call

    for owner, name in parts:
        setattr(owner, name, unreliable(getattr(owner, name)))
    try:
        yield
    finally:
        for owner, name in parts:
            delattr(owner, name)
