"""Faces, talk and stories of the invented people, and the offer on a fresh site."""

import dataclasses
from typing import Any

import msgspec
from httpx import AsyncClient

from tests.support import serve
from tintype.api import BOARD, DemoStarter
from tintype.base.board import Board, Notice
from tintype.base.ids import AccountId
from tintype.demo import Demo, Living, Person, all_people
from tintype.demo.faces import take_portrait
from tintype.wiring import Rooms

PASSWORD = "a password for tests"


def quiet(_stage: str, _done: int, _total: int) -> None:
    """Tell nobody."""


def few(count: int = 4) -> tuple[Person, ...]:
    return tuple(msgspec.structs.replace(each, photos=each.photos[:1]) for each in all_people()[:count])


async def test_a_settled_community_lives_and_a_repeat_changes_nothing(rooms: Rooms) -> None:
    people = few()
    await Demo(rooms, password=PASSWORD, pause_s=0.02).settle(people, quiet)

    first = await Living(rooms, people).live(quiet)
    again = await Living(rooms, people).live(quiet)

    assert first == again
    assert first.stories > 0
    told = 0
    for person in people:
        account = await rooms.accounts.get_by_name(person.username)
        assert account.avatar_folder
        assert account.bio == person.bio
        _, stories = await rooms.stories.of_account(account.id, viewer=account.id)
        told += len(stories)
    assert told == first.stories


async def test_a_newcomer_follows_some_before_the_photos_come(rooms: Rooms) -> None:
    me = (await rooms.accounts.sign_up("newcomer", PASSWORD)).account
    people = few(3)

    await Demo(rooms, password=PASSWORD, pause_s=0.02).settle(people, quiet, newcomer=me.id)

    ids = [await rooms.accounts.find_id(each.username) for each in people]
    followed = await rooms.graph.which_followed(me.id, [each for each in ids if each is not None])
    assert len(followed) == len(people)


def test_a_face_belongs_to_a_name() -> None:
    assert take_portrait("ana") == take_portrait("ana") != take_portrait("bo")


class Asked:
    """Stands for the process that does the work."""

    def __init__(self) -> None:
        self.by: list[AccountId] = []

    async def start(self, newcomer: AccountId) -> None:
        self.by.append(newcomer)

    def starter(self) -> DemoStarter:
        return DemoStarter(frozenset({"mara.lindqvist"}), self.start)


async def join(client: AsyncClient, username: str) -> dict[str, str]:
    """The headers of somebody who has just signed up."""
    made = await client.post("/api/v1/accounts", json={"username": username, "password": PASSWORD})
    client.cookies.clear()
    return {"Authorization": f"Bearer {made.json()['token']}"}


async def ask(client: AsyncClient, headers: dict[str, str], method: str = "GET") -> Any:
    return await client.request(method, "/api/v1/demo", headers=headers)


async def test_whoever_is_alone_is_offered_company_and_it_is_called_once(rooms: Rooms) -> None:
    asked = Asked()
    async with serve(rooms, demo=asked.starter()) as client:
        me = await join(client, "ana")
        offered = (await ask(client, me)).json()
        begun = [(await ask(client, me, "POST")) for _ in range(2)]

    assert offered["is_offered"]
    assert [answer.status_code for answer in begun] == [202, 202]
    assert begun[1].json()["state"] == "running"
    assert len(asked.by) == 1


async def test_the_offer_ends_when_somebody_else_joins_and_not_with_the_invented(rooms: Rooms) -> None:
    asked = Asked()
    async with serve(rooms, demo=asked.starter()) as client:
        me = await join(client, "ana")
        await join(client, "mara.lindqvist")
        among_invented = (await ask(client, me)).json()
        bo = await join(client, "bo")
        answers = [await ask(client, who, "POST") for who in (me, bo)]

    assert among_invented["is_offered"]
    assert [answer.json()["code"] for answer in answers] == ["demo_not_offered"] * 2
    assert asked.by == []


async def test_work_that_failed_may_be_begun_again_and_work_that_is_done_may_not(rooms: Rooms) -> None:
    asked = Asked()
    board = Board(rooms.redis, rooms.settings.namespace, BOARD)
    async with serve(rooms, demo=asked.starter()) as client:
        me = await join(client, "ana")
        await board.write(Notice("failed"))
        await ask(client, me, "POST")
        await board.write(Notice("done"))
        after = (await ask(client, me)).json()
        await ask(client, me, "POST")

    assert len(asked.by) == 1
    assert (after["is_offered"], after["state"]) == (False, "done")


async def test_a_site_may_make_no_offer(rooms: Rooms) -> None:
    asked = Asked()
    silent = dataclasses.replace(rooms, settings=msgspec.structs.replace(rooms.settings, demo_offered=False))
    async with serve(silent, demo=asked.starter()) as client:
        answer = await ask(client, await join(client, "ana"), "POST")

    assert answer.status_code == 409
    assert asked.by == []
