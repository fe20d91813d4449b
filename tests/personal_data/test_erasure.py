from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from httpx import AsyncClient

from shardwright.routing import Query
from tests.personal_data.fake_holder import FakeHolder, Killed
from tests.personal_data.leftovers import find_leftovers
from tests.support import PASSWORD, Person, eventually, join
from tintype.accounts import StatusChanged
from tintype.base.errors import Unavailable
from tintype.base.ids import AccountId
from tintype.personal_data import DepartureDue
from tintype.personal_data.erasure import Erasure
from tintype.wiring import Rooms
from tintype.worker import Worker

MAKE_DUE = Query.parse("make_due", "UPDATE departures SET due_at = now() WHERE account_id = :account_id")
LOSE_JOB = Query.parse(
    "lose_job", "UPDATE departures SET touched_at = now() - interval '1 day' WHERE account_id = :account_id"
)
RECEIPT = Query.parse("receipt", "SELECT erased FROM departed WHERE account_id = :account_id")

DOCUMENTED = {
    "departed.account_id": "the receipt",
    "followers.follower_id": "the trace of an ended follow, so that late events are recognised; the graph sweeps it",
    "blocked_by.blocker_id": "likewise for a block",
    "posts.mention_ids": "what others wrote stays theirs: the mention leads nowhere now",
    "posts.spans": "likewise",
}


def id_of(person: Person) -> AccountId:
    return AccountId(int(person.account_id))


async def request_deletion(person: Person, password: str = PASSWORD) -> int:
    return (await person.call("POST", "/accounts/me/deletion", json={"password": password})).status_code


async def make_due(rooms: Rooms, person: Person) -> None:
    account_id = id_of(person)
    await rooms.shards.owner(account_id).execute(MAKE_DUE, account_id=account_id)


def erasure_with(rooms: Rooms, **holders: FakeHolder) -> Erasure:
    dependencies = replace(rooms.personal_data._erasure._deps, grace_days=0)
    return Erasure(dependencies, holders, last=rooms.accounts.personal_data)


async def sign_in(person: Person) -> int:
    body = {"username": person.username, "password": PASSWORD}
    answer = await person.client.post("/api/v1/sessions", json=body)
    person.client.cookies.clear()
    return answer.status_code


async def test_a_deleted_account_is_hidden_and_signed_out_at_once(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    assert await request_deletion(ana, "a wrong password") in {400, 403}
    assert (await ana.call("GET", "/accounts/me")).status_code == 200

    answer = await ana.call("POST", "/accounts/me/deletion", json={"password": PASSWORD})

    assert answer.status_code == 202
    due_at = datetime.fromisoformat(answer.json()["due_at"])
    assert timedelta(days=6.9) < due_at - datetime.now(UTC) < timedelta(days=7.1)
    assert (await ana.call("GET", "/accounts/me")).status_code == 401
    assert await rooms.visibility.find_accounts(id_of(bo), [id_of(ana)]) == {}


async def test_signing_in_within_the_grace_period_cancels_the_deletion(
    working: Worker, rooms: Rooms, ana: Person
) -> None:
    await request_deletion(ana)

    assert await sign_in(ana) == 201

    async def is_cancelled() -> bool:
        return await rooms.personal_data.find_erasure(id_of(ana)) is None

    await eventually(is_cancelled, what="the deletion is cancelled")
    await rooms.personal_data.start_due_erasures()
    assert (await rooms.accounts.get(id_of(ana))).is_active


async def test_an_account_that_came_back_is_not_erased_even_if_the_event_was_lost(
    rooms: Rooms, ana: Person
) -> None:
    await request_deletion(ana)
    await sign_in(ana)
    await make_due(rooms, ana)

    await rooms.personal_data.start_due_erasures()

    assert (await rooms.accounts.get(id_of(ana))).is_active
    assert await rooms.personal_data.find_erasure(id_of(ana)) is None


async def test_a_late_status_event_does_not_cancel_a_newer_deletion(rooms: Rooms, ana: Person) -> None:
    await request_deletion(ana)

    await rooms.personal_data.cancel_erasure(StatusChanged(id_of(ana), "active"))

    assert await rooms.personal_data.find_erasure(id_of(ana)) is not None


async def test_no_erasure_starts_before_it_is_due(rooms: Rooms, ana: Person) -> None:
    await request_deletion(ana)

    await rooms.personal_data.start_due_erasures()

    request = await rooms.personal_data.find_erasure(id_of(ana))
    assert request is not None
    assert request.started_at is None


async def test_nobody_signs_in_once_the_erasure_has_started(rooms: Rooms, ana: Person) -> None:
    await request_deletion(ana)
    await make_due(rooms, ana)
    await rooms.personal_data.start_due_erasures()

    assert await sign_in(ana) in {401, 403}


@pytest.mark.slow
@pytest.mark.parametrize("step", range(1, 24, 2))
async def test_an_erasure_killed_at_any_step_is_finished_by_the_next_run(
    rooms: Rooms, client: AsyncClient, step: int
) -> None:
    person = await join(client, f"leaver{step}")
    await request_deletion(person)
    await make_due(rooms, person)
    await rooms.personal_data.start_due_erasures()
    holder, other = FakeHolder(5, dies_at=step), FakeHolder(3)
    erasure = erasure_with(rooms, holder=holder, other=other)
    due = DepartureDue(id_of(person))

    for _ in range(2):
        try:
            await erasure.erase(due)
        except Killed:
            continue
    await erasure.erase(due)

    assert (holder.left, other.left) == (0, 0)
    receipt = await rooms.shards.owner(due.account_id).fetch_one(RECEIPT, account_id=due.account_id)
    assert receipt is not None
    assert await find_leftovers(rooms, due.account_id) == {"departed.account_id"}


async def test_the_account_stays_until_every_room_counts_zero(rooms: Rooms, ana: Person) -> None:
    class Stubborn(FakeHolder):
        async def erase(self, account_id: AccountId) -> int:  # noqa: ARG002 - the protocol names it
            return 0

    await request_deletion(ana)
    await make_due(rooms, ana)
    await rooms.personal_data.start_due_erasures()

    with pytest.raises(Unavailable, match="stubborn"):
        await erasure_with(rooms, stubborn=Stubborn(1)).erase(DepartureDue(id_of(ana)))

    assert (await rooms.accounts.get(id_of(ana))).status == "gone"
    request = await rooms.personal_data.find_erasure(id_of(ana))
    assert request is not None


@pytest.mark.slow
async def test_a_lost_job_is_found_and_started_again(
    working: Worker, rooms: Rooms, ana: Person, bo: Person
) -> None:
    await ana.upload()
    await ana.call("POST", "/search/recent", json={"kind": "words", "subject": "sea"})
    await bo.call("POST", "/search/recent", json={"kind": "words", "subject": "sky"})
    await rooms.search.index_account(id_of(ana))
    await request_deletion(ana)
    await make_due(rooms, ana)
    account_id = id_of(ana)
    personal_data = rooms.personal_data
    await personal_data.start_erasure(account_id)
    await rooms.shards.owner(account_id).execute(LOSE_JOB, account_id=account_id)

    await personal_data.start_due_erasures()

    async def is_gone() -> bool:
        return await personal_data.find_erasure(account_id) is None

    await eventually(is_gone, what="all her data is erased")
    assert await find_leftovers(rooms, account_id) == {"departed.account_id"}
    assert (await bo.call("GET", "/search/recent")).json()["searches"]
    assert (await join(ana.client, "ana")).username == "ana"


@pytest.mark.slow
async def test_nothing_of_an_erased_account_is_left(
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
        (ana, "PUT", "/tags/sea/follow", None),
    )
    for inviter, invited in ((ana, "cy"), (bo, "dee")):
        link = (await inviter.call("POST", "/invitations", json={})).json()
        newcomer = {"username": invited, "password": PASSWORD, "invitation": link["code"]}
        assert (await ana.client.post("/api/v1/accounts", json=newcomer)).status_code == 201
        ana.client.cookies.clear()
    for person, method, path, body in calls:
        answer = await person.call(method, path, **({} if body is None else {"json": body}))
        assert answer.is_success, (path, answer.text)

    async def is_everywhere() -> bool:
        here = await find_leftovers(rooms, account_id)
        return {"own_comments.account_id", "topic_posts.author_id", "search_entries.subject"} <= here

    await eventually(is_everywhere, what="every room has handled her events")
    await request_deletion(ana)
    await make_due(rooms, ana)

    await rooms.personal_data.start_due_erasures()

    async def is_gone() -> bool:
        return await rooms.personal_data.find_erasure(account_id) is None

    await eventually(is_gone, what="she is erased")
    assert await find_leftovers(rooms, account_id) - DOCUMENTED.keys() == set()
    left = (await bo.call("GET", f"/posts/{his['post_id']}")).json()
    assert (left["like_count"], left["comment_count"]) == (0, 0)
    assert (await rooms.accounts.get(id_of(bo))).follower_count == 0
