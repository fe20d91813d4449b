"""People and their relations, set up directly in the database."""

from typing import cast

import asyncpg
from httpx import AsyncClient

from tests.support import Person, join
from tintype.base.ids import AccountId
from tintype.wiring import Rooms


def id_of(person: Person) -> AccountId:
    return AccountId(int(person.account_id))


async def run_sql(rooms: Rooms, shard_of: int, statement: str) -> list[asyncpg.Record]:
    """Run a statement on the shard that an id names; returns its rows."""
    async with rooms.shards.owner(shard_of).begin() as tx:
        return cast("list[asyncpg.Record]", await tx.connection.fetch(statement))


async def make_private(rooms: Rooms, person: Person) -> None:
    await run_sql(
        rooms, id_of(person), f"UPDATE accounts SET is_private = true WHERE id = {person.account_id}"
    )
    await rooms.accounts.invalidate(id_of(person))


async def block(rooms: Rooms, blocker: Person, blocked: Person) -> None:
    await run_sql(
        rooms,
        id_of(blocker),
        f"INSERT INTO blocks (account_id, blocked_id, change_id) "
        f"VALUES ({blocker.account_id}, {blocked.account_id}, next_id())",
    )
    await run_sql(
        rooms,
        id_of(blocked),
        f"INSERT INTO blocked_by (account_id, blocker_id, change_id, is_active) "
        f"VALUES ({blocked.account_id}, {blocker.account_id}, next_id(), true)",
    )


async def follow(follower: Person, followee: Person) -> None:
    assert (await follower.call("PUT", f"/accounts/{followee.account_id}/follow")).status_code < 300


async def crowd(client: AsyncClient, count: int, *, name: str = "person") -> list[Person]:
    """Many people, each from a network of their own: sign-ups from one network are rate limited."""
    people: list[Person] = []
    for number in range(count):
        client.headers["X-Forwarded-For"] = f"198.51.100.{number}"
        people.append(await join(client, f"{name}{number}"))
    del client.headers["X-Forwarded-For"]
    return people
