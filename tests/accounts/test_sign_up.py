import asyncio

import pytest

from tests.support import PASSWORD
from tintype.accounts import QUERIES, UsernameTaken
from tintype.base.errors import Unavailable
from tintype.base.ids import AccountId
from tintype.wiring import Rooms


async def test_of_many_who_want_one_name_at_once_one_gets_it(rooms: Rooms) -> None:
    outcomes = await asyncio.gather(
        *(rooms.accounts.sign_up("wanted", PASSWORD) for _ in range(8)), return_exceptions=True
    )

    assert sum(isinstance(each, UsernameTaken) for each in outcomes) == 7


async def test_a_claim_without_an_account_is_taken_over_after_a_minute(rooms: Rooms) -> None:
    abandoned = await _claim(rooms, "abandoned")
    with pytest.raises(UsernameTaken):
        await rooms.accounts.sign_up("abandoned", PASSWORD)
    await _age(rooms, "abandoned")

    made = await rooms.accounts.sign_up("abandoned", PASSWORD)

    assert made.account.id != abandoned
    assert (await rooms.accounts.get_by_name("abandoned")).id == made.account.id


async def test_a_sign_up_that_took_too_long_is_refused(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    old = rooms.shards.map.layout.compose(1_000, 0, 1)  # drawn long ago, by its own testimony
    slow = rooms.accounts

    async def draw(*_: object, **__: object) -> int:
        return old

    home = rooms.shards.shard(0)
    monkeypatch.setattr(rooms.shards, "place", lambda: home)
    monkeypatch.setattr(type(home), "fetch_value", draw)

    with pytest.raises(Unavailable):
        await slow.sign_up("sleeper", PASSWORD)


async def _claim(rooms: Rooms, username: str) -> AccountId:
    home = rooms.shards.place()
    account_id = AccountId(await home.fetch_value(QUERIES.draw_account_id))
    await rooms.shards.of(username).execute(QUERIES.claim_username, key=username, account_id=account_id)
    return account_id


async def _age(rooms: Rooms, username: str) -> None:
    async with rooms.shards.of(username).begin() as tx:
        await tx.connection.execute("UPDATE usernames SET claimed_at = now() - interval '2 minutes'")
