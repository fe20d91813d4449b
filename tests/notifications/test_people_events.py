"""Events between people, end to end: from the request through the worker to the list."""

import pytest

from tests.notifications.support import actor_names, count_unread, handle, id_of, like, list_notifications
from tests.support import Person, eventually
from tintype.graph import FollowChanged, FollowDecided
from tintype.wiring import Rooms
from tintype.worker import Worker


@pytest.mark.slow
async def test_a_request_is_notified_until_it_is_answered_and_so_is_each_acceptance(
    working: Worker, rooms: Rooms, ana: Person, bo: Person
) -> None:
    await _make_private(rooms, ana)
    for _ in range(2):
        await bo.call("PUT", f"/accounts/{ana.account_id}/follow")
        await _told(ana, [("request", ["bo"])])
        assert (await ana.call("PUT", f"/follow-requests/{bo.account_id}")).status_code == 204
        await _told(ana, [])
        await _told(bo, [("accepted", ["ana"])])
        await bo.call("DELETE", f"/accounts/{ana.account_id}/follow")
        await _told(bo, [])


@pytest.mark.slow
async def test_a_cancelled_or_declined_request_is_retracted(
    working: Worker, rooms: Rooms, ana: Person, bo: Person
) -> None:
    await _make_private(rooms, ana)
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")
    await _told(ana, [("request", ["bo"])])
    await bo.call("DELETE", f"/accounts/{ana.account_id}/follow")
    await _told(ana, [])

    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")
    await _told(ana, [("request", ["bo"])])
    await ana.call("DELETE", f"/follow-requests/{bo.account_id}")
    await _told(ana, [])
    assert await count_unread(ana) == 0


async def test_a_follow_that_turned_out_to_be_a_request_is_notified_as_one(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    began = FollowChanged(id_of(bo), id_of(ana), 5, True)
    decided = FollowDecided(id_of(bo), id_of(ana), 5, "requested")

    for order in ([began, decided], [decided, began]):
        await handle(rooms, *order)
        assert [each["kind"] for each in await list_notifications(ana)] == ["request"]


async def test_a_follow_says_whether_the_recipient_follows_back_and_a_like_does_not(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")
    await handle(rooms, FollowChanged(id_of(bo), id_of(ana), 5, True))
    await handle(rooms, like(await ana.publish(), ana, bo, 6))

    notified = {each["kind"]: each["actors"][0]["relation"] for each in await list_notifications(ana)}

    assert notified["like"] is None
    assert (notified["follow"]["viewer_follows"], notified["follow"]["follows_viewer"]) == (False, True)


async def test_activities_of_muted_and_restricted_people_are_not_notified(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    for change, (path, body) in enumerate({"mutes": {"posts": True}, "restrictions": None}.items(), start=1):
        post = await ana.publish()
        await handle(rooms, like(post, ana, bo, change))
        assert await count_unread(ana) == 1

        assert (await ana.call("PUT", f"/{path}/{bo.account_id}", json=body)).status_code == 204

        assert (await list_notifications(ana), await count_unread(ana)) == ([], 0)
        await handle(rooms, like(await ana.publish(), ana, bo, change))
        assert await count_unread(ana) == 0
        await ana.call("DELETE", f"/{path}/{bo.account_id}")


@pytest.mark.slow
async def test_a_block_clears_both_lists(working: Worker, ana: Person, bo: Person) -> None:
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")
    await ana.call("PUT", f"/accounts/{bo.account_id}/follow")
    await _told(ana, [("follow", ["bo"])])
    await _told(bo, [("follow", ["ana"])])

    await ana.call("PUT", f"/blocks/{bo.account_id}")

    await _told(ana, [])
    await _told(bo, [])


async def _make_private(rooms: Rooms, person: Person) -> None:
    async with rooms.shards.owner(id_of(person)).begin() as tx:
        await tx.connection.execute("UPDATE accounts SET is_private = true WHERE id = $1", id_of(person))
    await rooms.accounts.invalidate(id_of(person))


async def _told(person: Person, expected: list[tuple[str, list[str]]]) -> None:
    async def is_so() -> bool:
        return [(each["kind"], actor_names(each)) for each in await list_notifications(person)] == expected

    await eventually(is_so, what=f"{person.username} is notified of {expected}")
