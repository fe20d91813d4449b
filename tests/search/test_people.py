import asyncio
from typing import Any

import pytest
from httpx import AsyncClient

from shardwright.routing import Query
from tests.search.conftest import Change
from tests.support import Person, eventually, join
from tintype.base.ids import AccountId
from tintype.graph import FollowChanged
from tintype.search.index_reader import IndexReader
from tintype.search.store import QUERIES
from tintype.wiring import Rooms
from tintype.worker import Worker

BLOCKS = "INSERT INTO blocks (account_id, blocked_id, change_id) VALUES ($1, $2, 1)"
BLOCKED_BY = "INSERT INTO blocked_by (account_id, blocker_id, change_id, is_active) VALUES ($1, $2, 1, true)"
FILED = Query.parse("filed", "SELECT term FROM search_entries WHERE subject = :subject")


async def names(viewer: Person, q: str, **params: Any) -> list[str]:
    answer = await viewer.call("GET", "/search/people", params={"q": q, **params})
    assert answer.status_code == 200, answer.text
    return [each["username"] for each in answer.json()["people"]]


async def test_people_are_found_by_the_beginning_of_any_word_of_their_name(
    client: AsyncClient, bo: Person, change: Change
) -> None:
    carmen = await join(client, "carmen.de_la_cruz")
    await change(carmen, "full_name = 'María José Álvarez'")

    for typed in (
        "c",
        "ca",
        "carm",
        "carmen.de",
        "carmende",
        "cruz",
        "maria",
        "MARÍA jo",
        "alva mar",
        "José",
    ):
        assert await names(bo, typed) == ["carmen.de_la_cruz"], typed
    assert await names(bo, "zoe") == []
    assert await names(bo, "maria zoe") == []


async def test_typos_are_forgiven_anywhere_in_a_word(client: AsyncClient, bo: Person, change: Change) -> None:
    await change(await join(client, "johnathan"), "is_verified = true")

    for typed in ("jhon", "ohnathan", "xjohnathan", "jihnathan", "jonathan", "johnatahn", "johnathxn"):
        assert await names(bo, typed) == ["johnathan"], typed
    assert await names(bo, "anastasia") == []


async def test_followees_come_first_then_friends_of_friends_then_the_popular(
    client: AsyncClient, bo: Person, change: Change, rooms: Rooms
) -> None:
    popular, friend, mutual, nobody = [await join(client, f"maria{n}") for n in range(4)]
    for each in (friend, mutual, nobody):
        await change(each, "full_name = ''")
    await change(popular, "follower_count = 900")
    await bo.call("PUT", f"/accounts/{friend.account_id}/follow")
    await friend.call("PUT", f"/accounts/{mutual.account_id}/follow")

    assert await names(bo, "maria") == ["maria1", "maria2", "maria0", "maria3"]


async def test_a_followee_is_found_among_more_popular_namesakes(
    client: AsyncClient, bo: Person, change: Change, rooms: Rooms
) -> None:
    friend = await join(client, "maria.friend")
    await change(friend, "full_name = ''")
    await bo.call("PUT", f"/accounts/{friend.account_id}/follow")
    key = "people:ma"
    for number in range(100):
        await rooms.shards.of(key).execute(
            QUERIES.put_entries,
            key=key,
            subject=str(number + 1),
            revision=1,
            terms=[f"maria{number}"],
            words=[f" maria{number}"],
            weights=[500],
            details=[""],
        )

    assert await names(bo, "maria") == ["maria.friend"]


async def test_blocked_and_blocking_accounts_are_never_found(
    client: AsyncClient, bo: Person, change: Change, rooms: Rooms
) -> None:
    ana = await join(client, "ana")
    await change(ana, "full_name = ''")
    assert await names(bo, "ana") == ["ana"]
    viewer, other = AccountId(int(bo.account_id)), AccountId(int(ana.account_id))

    async with rooms.shards.owner(viewer).begin() as tx:
        await tx.connection.execute(BLOCKED_BY, viewer, other)
    assert await names(bo, "ana") == []

    async with rooms.shards.owner(viewer).begin() as tx:
        await tx.connection.execute("DELETE FROM blocked_by")
        await tx.connection.execute(BLOCKS, viewer, other)
    assert await names(bo, "ana") == []


async def test_private_accounts_are_found_by_name_and_inactive_ones_are_not(
    client: AsyncClient, bo: Person, change: Change
) -> None:
    ana = await join(client, "ana")
    await change(ana, "is_private = true")
    assert await names(bo, "ana") == ["ana"]

    for status in ("suspended", "deactivated", "leaving"):
        await change(ana, f"status = '{status}'")
        assert await names(bo, "ana") == []
    await change(ana, "status = 'active'")
    assert await names(bo, "ana") == ["ana"]


async def test_an_old_name_no_longer_finds_anybody(client: AsyncClient, bo: Person, change: Change) -> None:
    ana = await join(client, "ana")
    await change(ana, "full_name = 'Zenobia Quill'")
    assert await names(bo, "zenob") == ["ana"]

    await change(ana, "full_name = 'Ana'")

    assert await names(bo, "zenob") == []
    assert await names(bo, "ana") == ["ana"]


@pytest.mark.slow
async def test_indexing_the_same_person_concurrently_ends_with_the_latest_name(
    client: AsyncClient, bo: Person, rooms: Rooms, change: Change
) -> None:
    ana = await join(client, "ana")
    account_id = AccountId(int(ana.account_id))
    home = rooms.shards.owner(account_id)

    async def rename(name: str) -> None:
        async with home.begin() as tx:
            await tx.connection.execute("UPDATE accounts SET full_name = $1 WHERE id = $2", name, account_id)
        await rooms.search.index_account(account_id)

    for batch in range(3):
        await asyncio.gather(*(rename(f"Name{batch}x{n} Word{n}") for n in range(8)))

    row = await home.fetch_one(QUERIES.read_person, account_id=account_id)
    assert row is not None
    filed = await rooms.shards.everywhere().fetch(FILED, subject=str(account_id))
    assert {each["term"] for each in filed} == {"ana", *row["full_name"].lower().split()}


@pytest.mark.slow
async def test_a_new_account_is_found_once_the_worker_has_indexed_it(
    working: Worker, client: AsyncClient, bo: Person
) -> None:
    await join(client, "newcomer")

    async def is_found() -> bool:
        return await names(bo, "newc") == ["newcomer"]

    await eventually(is_found, what="the new account is indexed")


async def test_a_search_reads_one_shard_and_forgiving_typos_three_more(
    client: AsyncClient, change: Change, rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    await change(await join(client, "johnathan"), "full_name = ''")
    asked: list[str] = []
    of = rooms.shards.of

    def watch(key: str) -> Any:
        asked.append(key)
        return of(key)

    reader = IndexReader(rooms.shards, are_candidates_checked=True)
    monkeypatch.setattr(rooms.shards, "of", watch)

    assert await reader.find("people", "johna", enough=1)
    assert asked == ["people:jo"]
    asked.clear()
    assert await reader.find("people", "jhona", enough=1)
    assert sorted(asked) == ["people:ho", "people:jh", "people:jh", "people:jo"]


async def test_odd_words_find_nothing_and_break_nothing(bo: Person) -> None:
    for typed in ("%", "_", "\\", "' OR 1=1", "🙂", "a" * 100, "  ", "\u202e", "\x00", "\x07%"):
        assert await names(bo, typed) == []
    answer = await bo.call("GET", "/search/people", params={"q": "a" * 101})
    assert answer.status_code == 400
    assert (await bo.call("GET", "/search/people")).status_code == 400


async def test_follows_index_an_account_again_when_its_followers_have_doubled(
    ana: Person, bo: Person, change: Change, rooms: Rooms
) -> None:
    await change(ana, "follower_count = 1")
    account_id = AccountId(int(ana.account_id))
    handler = next(each for each in rooms.search.handlers() if each.event is FollowChanged)
    event = FollowChanged(AccountId(int(bo.account_id)), account_id, 1, is_following=True)
    weights: list[int] = []
    for count in (2, 4, 7, 8, 11, 16, 9, 8, 4, 1):
        async with rooms.shards.owner(account_id).begin() as tx:
            await tx.connection.execute(
                f"UPDATE accounts SET follower_count = {count} WHERE id = $1", account_id
            )
        await handler.run(event)
        row = await rooms.shards.owner(account_id).fetch_one(
            QUERIES.find_indexed, kind="people", subject=str(account_id)
        )
        assert row is not None
        weights.append(row["weight"])

    assert weights == [1, 1, 1, 13, 13, 17, 13, 13, 9, 9]
