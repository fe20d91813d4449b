from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.support import Person
from tintype.base.ids import AccountId, PostId
from tintype.wiring import Rooms

Change = Callable[[Person, str], Awaitable[None]]


@pytest.fixture
def change(rooms: Rooms) -> Change:
    """Changes an account behind the other rooms' backs, as their own commits would, and lets the index follow."""

    async def run(person: Person, assignment: str) -> None:
        account_id = AccountId(int(person.account_id))
        async with rooms.shards.owner(account_id).begin() as tx:
            await tx.connection.execute(f"UPDATE accounts SET {assignment} WHERE id = $1", account_id)
        await rooms.accounts.forget(account_id)
        await rooms.search.people.file(account_id)
        await rooms.search.topics.file_all_of(account_id)

    return run


Publish = Callable[[Person, str], Awaitable[str]]


@pytest.fixture
def publish(rooms: Rooms) -> Publish:
    """Publishes a post with a caption and lets the index follow; returns its id."""

    async def run(person: Person, caption: str) -> str:
        made: dict[str, Any] = await person.publish(caption)
        await rooms.search.topics.file(PostId(int(made["post_id"])), AccountId(int(person.account_id)))
        return made["post_id"]

    return run
