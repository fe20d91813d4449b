from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from httpx import AsyncClient

from shardwright.running import Query
from tests.belongings.leftovers import find_leftovers
from tests.belongings.shelf import Killed, Shelf
from tests.support import PASSWORD, Person, eventually, join
from tintype.accounts import StatusChanged
from tintype.base.errors import Unavailable
from tintype.base.ids import AccountId
from tintype.belongings import DepartureDue
from tintype.belongings.departing import Leaving
from tintype.wiring import Rooms
from tintype.worker import Worker

HURRY = Query.parse("hurry", "UPDATE departures SET due_at = now() WHERE account_id = :account_id")
LOSE = Query.parse(
    "lose", "UPDATE departures SET touched_at = now() - interval '1 day' WHERE account_id = :account_id"
)
RECEIPT = Query.parse("receipt", "SELECT erased FROM departed WHERE account_id = :account_id")

DOCUMENTED = {
    "departed.account_id": "the receipt",
    "followers.follower_id": "the trace of an ended follow, which keeps late events out; the graph sweeps it",
    "blocked_by.blocker_id": "likewise of an ended block",
    "posts.mention_ids": "what others wrote stays theirs: a mention leads nowhere now",
    "posts.spans": "likewise",
}


def id_of(person: Person) -> AccountId:
    return AccountId(int(person.account_id))


async def leave(person: Person, password: str = PASSWORD) -> int:
    return (await person.call("POST", "/accounts/me/deletion", json={"password": password})).status_code


async def hurry(rooms: Rooms, person: Person) -> None:
    account_id = id_of(person)
    await rooms.shards.owner(account_id).execute(HURRY, account_id=account_id)


def leaving_with(rooms: Rooms, **shelves: Shelf) -> Leaving:
    leaving = rooms.departures.leaving
    return Leaving(rooms.shards, leaving._outbox, rooms.accounts, shelves, last=rooms.accounts, grace_days=0)


async def sign_in(person: Person) -> int:
    body = {"username": person.username, "password": PASSWORD}
    answer = await person.client.post("/api/v1/sessions", json=body)
    person.client.cookies.clear()
    return answer.status_code


async def test_who_leaves_is_invisible_and_signed_out_at_once(rooms: Rooms, ana: Person, bo: Person) -> None:
    assert await leave(ana, "a wrong password") in {400, 403}
    assert (await ana.call("GET", "/accounts/me")).status_code == 200

    answer = await ana.call("POST", "/accounts/me/deletion", json={"password": PASSWORD})

    assert answer.status_code == 202
    due_at = datetime.fromisoformat(answer.json()["due_at"])
    assert timedelta(days=6.9) < due_at - datetime.now(UTC) < timedelta(days=7.1)
    assert (await ana.call("GET", "/accounts/me")).status_code == 401
    assert await rooms.sight.of(id_of(bo), [id_of(ana)]) == {}


async def test_signing_in_within_the_days_of_grace_takes_it_back(
    working: Worker, rooms: Rooms, ana: Person
) -> None:
    await leave(ana)

    assert await sign_in(ana) == 201

    async def is_taken_back() -> bool:
        return await rooms.departures.leaving.find(id_of(ana)) is None

    await eventually(is_taken_back, what="the departure was taken back")
    await rooms.departures.leaving.start_due()
    assert (await rooms.accounts.get(id_of(ana))).is_active


async def test_who_came_back_is_not_erased_even_when_nobody_heard_of_it(rooms: Rooms, ana: Person) -> None:
    await leave(ana)
    await sign_in(ana)
    await hurry(rooms, ana)

    await rooms.departures.leaving.start_due()

    assert (await rooms.accounts.get(id_of(ana))).is_active
    assert await rooms.departures.leaving.find(id_of(ana)) is None


async def test_a_late_word_of_coming_back_does_not_cancel_a_newer_wish(rooms: Rooms, ana: Person) -> None:
    await leave(ana)

    await rooms.departures.leaving.cancel(StatusChanged(id_of(ana), "active"))

    assert await rooms.departures.leaving.find(id_of(ana)) is not None


async def test_nothing_begins_before_its_day(rooms: Rooms, ana: Person) -> None:
    await leave(ana)

    await rooms.departures.leaving.start_due()

    departure = await rooms.departures.leaving.find(id_of(ana))
    assert departure is not None
    assert departure.started_at is None


async def test_once_begun_there_is_no_way_back_in(rooms: Rooms, ana: Person) -> None:
    await leave(ana)
    await hurry(rooms, ana)
    await rooms.departures.leaving.start_due()

    assert await sign_in(ana) in {401, 403}


@pytest.mark.parametrize("step", range(1, 24, 2))
async def test_a_departure_killed_at_any_step_is_finished_by_the_next_run(
    rooms: Rooms, client: AsyncClient, step: int
) -> None:
    person = await join(client, f"leaver{step}")
    await leave(person)
    await hurry(rooms, person)
    await rooms.departures.leaving.start_due()
    shelf, other = Shelf(5, dies_at=step), Shelf(3)
    leaving = leaving_with(rooms, shelf=shelf, other=other)
    due = DepartureDue(id_of(person))

    for _ in range(2):
        try:
            await leaving.depart(due)
        except Killed:
            continue
    await leaving.depart(due)

    assert (shelf.left, other.left) == (0, 0)
    receipt = await rooms.shards.owner(due.account_id).fetch_one(RECEIPT, account_id=due.account_id)
    assert receipt is not None
    assert await find_leftovers(rooms, due.account_id) == {"departed.account_id"}


async def test_the_account_stays_until_every_room_counts_zero(rooms: Rooms, ana: Person) -> None:
    class Stubborn(Shelf):
        async def erase(self, account_id: AccountId) -> int:  # noqa: ARG002 - a room is asked by name
            return 0

    await leave(ana)
    await hurry(rooms, ana)
    await rooms.departures.leaving.start_due()

    with pytest.raises(Unavailable, match="stubborn"):
        await leaving_with(rooms, stubborn=Stubborn(1)).depart(DepartureDue(id_of(ana)))

    assert (await rooms.accounts.get(id_of(ana))).status == "gone"
    departure = await rooms.departures.leaving.find(id_of(ana))
    assert departure is not None


async def test_a_lost_job_is_found_and_begun_again(
    working: Worker, rooms: Rooms, ana: Person, bo: Person
) -> None:
    await ana.upload()
    await ana.call("POST", "/search/recent", json={"kind": "words", "subject": "sea"})
    await bo.call("POST", "/search/recent", json={"kind": "words", "subject": "sky"})
    await rooms.search.people.file(id_of(ana))
    await leave(ana)
    await hurry(rooms, ana)
    account_id = id_of(ana)
    leaving = rooms.departures.leaving
    await leaving.start(account_id)
    await rooms.shards.owner(account_id).execute(LOSE, account_id=account_id)

    await leaving.start_due()

    async def is_gone() -> bool:
        return await leaving.find(account_id) is None

    await eventually(is_gone, what="everything of hers is gone")
    assert await find_leftovers(rooms, account_id) == {"departed.account_id"}
    assert (await bo.call("GET", "/search/recent")).json()["searches"]
    assert (await join(ana.client, "ana")).username == "ana"


async def test_nothing_of_somebody_who_lived_here_is_left(
    working: Worker, rooms: Rooms, ana: Person, bo: Person
) -> None:
    account_id = id_of(ana)
    hers, his = await ana.publish("#sunset @bo"), await bo.publish("#sea @ana")
    calls: tuple[tuple[Person, str, str, dict[str, Any] | None], ...] = (
        (ana, "PUT", f"/accounts/{bo.account_id}/follow", None),
        (bo, "PUT", f"/accounts/{ana.account_id}/follow", None),
        (ana, "PUT", f"/posts/{his['post_id']}/like", None),
        (bo, "PUT", f"/posts/{hers['post_id']}/like", None),
        (ana, "POST", f"/posts/{his['post_id']}/comments", {"text": "Lovely"}),
        (bo, "POST", f"/posts/{hers['post_id']}/comments", {"text": "Thanks"}),
        (ana, "PUT", f"/posts/{his['post_id']}/save", {}),
        (ana, "POST", "/search/recent", {"kind": "account", "subject": bo.account_id}),
        (ana, "POST", "/accounts/me/exports", None),
    )
    for person, method, path, body in calls:
        answer = await person.call(method, path, **({} if body is None else {"json": body}))
        assert answer.is_success, (path, answer.text)

    async def is_everywhere() -> bool:
        here = await find_leftovers(rooms, account_id)
        return {"own_comments.account_id", "topic_posts.author_id", "search_entries.subject"} <= here

    await eventually(is_everywhere, what="every room has heard of her")
    await leave(ana)
    await hurry(rooms, ana)

    await rooms.departures.leaving.start_due()

    async def is_gone() -> bool:
        return await rooms.departures.leaving.find(account_id) is None

    await eventually(is_gone, what="she has left")
    assert await find_leftovers(rooms, account_id) - DOCUMENTED.keys() == set()
    left = (await bo.call("GET", f"/posts/{his['post_id']}")).json()
    assert (left["like_count"], left["comment_count"]) == (0, 0)
    assert (await rooms.accounts.get(id_of(bo))).follower_count == 0
