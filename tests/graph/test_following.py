import asyncio
import random

from tests.support import Person
from tintype.base.ids import AccountId
from tintype.graph import FollowChanged
from tintype.wiring import Rooms


async def test_the_followers_count_follows_every_change(rooms: Rooms, ana: Person, bo: Person) -> None:
    follower, followee = AccountId(int(bo.account_id)), AccountId(int(ana.account_id))

    counts: list[int] = []
    for change_id, is_following in enumerate([True, False, True, True, False], start=1):
        await rooms.graph.mirror(FollowChanged(follower, followee, change_id, is_following))
        counts.append((await rooms.accounts.get(followee)).follower_count)

    assert counts == [1, 0, 1, 1, 0]


async def test_changes_may_arrive_in_any_order_and_more_than_once(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    follower, followee = AccountId(int(bo.account_id)), AccountId(int(ana.account_id))
    changes = [FollowChanged(follower, followee, number, number % 2 == 1) for number in range(1, 8)] * 2

    for seed in range(5):
        shuffled = random.Random(seed).sample(changes, len(changes))  # noqa: S311 - a schedule
        await asyncio.gather(*(rooms.graph.mirror(change) for change in shuffled))

        assert (await rooms.accounts.get(followee)).follower_count == 1
        assert [page async for page in rooms.graph.pages_of_followers(followee)] == [[follower]]


async def test_following_and_unfollowing_at_once_ends_in_one_of_both(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    follower, followee = AccountId(int(bo.account_id)), AccountId(int(ana.account_id))

    await asyncio.gather(
        *(rooms.graph.follow(follower, followee) for _ in range(10)),
        *(rooms.graph.unfollow(follower, followee) for _ in range(10)),
    )

    is_following = followee in await rooms.graph.which_followed(follower, [followee])
    assert (await rooms.accounts.get(follower)).following_count == int(is_following)


async def test_nobody_follows_themselves(ana: Person) -> None:
    answer = await ana.call("PUT", f"/accounts/{ana.account_id}/follow")

    assert (answer.status_code, answer.json()["code"]) == (400, "cannot_follow_yourself")


async def test_following_nobody_is_refused(ana: Person) -> None:
    answer = await ana.call("PUT", f"/accounts/{int(ana.account_id) + 1}/follow")

    assert (answer.status_code, answer.json()["code"]) == (404, "account_not_found")
