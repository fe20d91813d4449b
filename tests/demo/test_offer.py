"""The offer to start the demo on a fresh site."""

import dataclasses
from typing import Any

import msgspec
from httpx import AsyncClient

from tests.application import serve
from tintype.base.ids import AccountId
from tintype.base.job_progress import JobProgress
from tintype.demo import progress_store
from tintype.wiring import Rooms

PASSWORD = "a password for tests"


class StartedDemos:
    """Stands for the process that creates the demo community: records who started it."""

    def __init__(self) -> None:
        self.by: list[AccountId] = []

    async def start(self, newcomer: AccountId) -> None:
        self.by.append(newcomer)


async def join(client: AsyncClient, username: str) -> dict[str, str]:
    """The headers of somebody who has just signed up."""
    made = await client.post("/api/v1/accounts", json={"username": username, "password": PASSWORD})
    client.cookies.clear()
    return {"Authorization": f"Bearer {made.json()['token']}"}


async def call_demo(client: AsyncClient, headers: dict[str, str], method: str = "GET") -> Any:
    return await client.request(method, "/api/v1/demo", headers=headers)


async def test_the_only_account_is_offered_the_demo_and_it_starts_once(rooms: Rooms) -> None:
    started = StartedDemos()
    async with serve(rooms, start_demo=started.start) as client:
        me = await join(client, "ana")
        offered = (await call_demo(client, me)).json()
        begun = [(await call_demo(client, me, "POST")) for _ in range(2)]

    assert offered["is_offered"]
    assert [answer.status_code for answer in begun] == [202, 202]
    assert begun[1].json()["state"] == "running"
    assert len(started.by) == 1


async def test_the_offer_ends_when_somebody_else_joins_but_not_with_demo_people(rooms: Rooms) -> None:
    started = StartedDemos()
    async with serve(rooms, start_demo=started.start) as client:
        me = await join(client, "ana")
        await join(client, "mara.lindqvist")
        among_invented = (await call_demo(client, me)).json()
        bo = await join(client, "bo")
        answers = [await call_demo(client, who, "POST") for who in (me, bo)]

    assert among_invented["is_offered"]
    assert [answer.json()["code"] for answer in answers] == ["demo_not_offered"] * 2
    assert started.by == []


async def test_a_failed_demo_can_be_started_again_and_a_finished_one_cannot(rooms: Rooms) -> None:
    started = StartedDemos()
    progress = progress_store(rooms)
    async with serve(rooms, start_demo=started.start) as client:
        me = await join(client, "ana")
        await progress.write(JobProgress("failed"))
        await call_demo(client, me, "POST")
        await progress.write(JobProgress("done"))
        after = (await call_demo(client, me)).json()
        await call_demo(client, me, "POST")

    assert len(started.by) == 1
    assert (after["is_offered"], after["state"]) == (False, "done")


async def test_a_setting_turns_the_offer_off(rooms: Rooms) -> None:
    started = StartedDemos()
    silent = dataclasses.replace(rooms, settings=msgspec.structs.replace(rooms.settings, demo_offered=False))
    async with serve(silent, start_demo=started.start) as client:
        answer = await call_demo(client, await join(client, "ana"), "POST")

    assert answer.status_code == 409
    assert started.by == []
