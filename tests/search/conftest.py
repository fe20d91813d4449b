from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.support import Person, let_pass
from tintype.base.ids import AccountId, PostId
from tintype.wiring import Rooms

Change = Callable[[Person, str], Awaitable[None]]


@pytest.fixture
def change(rooms: Rooms) -> Change:
    """Changes a column of an account directly, and indexes the account again."""

    async def run(person: Person, assignment: str) -> None:
        account_id = AccountId(int(person.account_id))
        async with rooms.shards.owner(account_id).begin() as tx:
            await tx.connection.execute(f"UPDATE accounts SET {assignment} WHERE id = $1", account_id)
        await rooms.accounts.invalidate(account_id)
        await rooms.search.index_account(account_id)
        await rooms.search.index_posts_of(account_id)

    return run


Publish = Callable[[Person, str], Awaitable[str]]


@pytest.fixture
def publish(rooms: Rooms) -> Publish:
    """Publishes a post with a caption and indexes it; returns its id."""

    async def run(person: Person, caption: str) -> str:
        made: dict[str, Any] = await person.publish(caption)
        await rooms.search.index_post(PostId(int(made["post_id"])), AccountId(int(person.account_id)))
        await let_pass(made["post_id"])
        return made["post_id"]

    return run
