"""What happens between people, from the button to the list, through the worker."""

from tests.notifications.telling import hear, id_of, like, lines, names, unread
from tests.support import Person, eventually
from tintype.graph import FollowChanged, FollowDecided
from tintype.wiring import Rooms
from tintype.worker import Worker


async def test_a_request_is_told_until_it_is_answered_and_the_answer_each_time(
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


async def test_a_request_that_is_cancelled_or_declined_is_gone(
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
    assert await unread(ana) == 0


async def test_a_follow_that_turned_out_to_be_a_request_is_told_as_one(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    began = FollowChanged(id_of(bo), id_of(ana), 5, True)
    decided = FollowDecided(id_of(bo), id_of(ana), 5, "requested")

    for order in ([began, decided], [decided, began]):
        await hear(rooms, *order)
        assert [each["kind"] for each in await lines(ana)] == ["request"]


async def test_a_follow_tells_whether_to_follow_back_and_a_like_does_not(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")
    await hear(rooms, FollowChanged(id_of(bo), id_of(ana), 5, True))
    await hear(rooms, like(await ana.publish(), ana, bo, 6))

    told = {each["kind"]: each["actors"][0]["relationship"] for each in await lines(ana)}

    assert told["like"] is None
    assert (told["follow"]["viewer_follows"], told["follow"]["follows_viewer"]) == (False, True)


async def test_muted_and_restricted_people_are_not_told_of(rooms: Rooms, ana: Person, bo: Person) -> None:
    for change, (path, body) in enumerate({"mutes": {"posts": True}, "restrictions": None}.items(), start=1):
        post = await ana.publish()
        await hear(rooms, like(post, ana, bo, change))
        assert await unread(ana) == 1

        assert (await ana.call("PUT", f"/{path}/{bo.account_id}", json=body)).status_code == 204

        assert (await lines(ana), await unread(ana)) == ([], 0)
        await hear(rooms, like(await ana.publish(), ana, bo, change))
        assert await unread(ana) == 0
        await ana.call("DELETE", f"/{path}/{bo.account_id}")


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
    await rooms.accounts.forget(id_of(person))


async def _told(person: Person, expected: list[tuple[str, list[str]]]) -> None:
    async def is_so() -> bool:
        return [(each["kind"], names(each)) for each in await lines(person)] == expected

    await eventually(is_so, what=f"{person.username} is told {expected}")
