from httpx import AsyncClient

from tests.graph.graph_state import set_private, set_status, sign_up_people
from tests.support import Person, join
from tintype.base.ids import AccountId
from tintype.wiring import Rooms


async def suggested(person: Person) -> list[tuple[str, int]]:
    answer = await person.call("GET", "/suggestions")
    assert answer.status_code == 200, answer.text
    return [(each["person"]["username"], each["followed_by_count"]) for each in answer.json()["suggestions"]]


async def test_friends_of_friends_are_suggested_before_popular_accounts(
    rooms: Rooms, client: AsyncClient
) -> None:
    me = await join(client, "zoe")
    mine = AccountId(int(me.account_id))
    ana, bo, cy, dee, star, shy = await sign_up_people(client, "ana", "bo", "cy", "dee", "star", "shy")
    await set_private(rooms, shy, is_private=True)
    for one, other in [(mine, ana), (mine, bo), (ana, cy), (bo, cy), (bo, dee), (bo, mine)]:
        await rooms.graph.follow(one, other)
    for one in (cy, dee):
        await rooms.graph.follow(one, star)
    await rooms.suggestions.rank_popular()

    assert await suggested(me) == [("cy", 2), ("dee", 1), ("star", 0)]


async def test_requested_dismissed_hidden_and_inactive_accounts_are_not_suggested(
    rooms: Rooms, client: AsyncClient
) -> None:
    me = await join(client, "zoe")
    mine = AccountId(int(me.account_id))
    friend, *others = await sign_up_people(
        client, "friend", "asked", "dismissed", "blocked", "blocking", "gone", "left"
    )
    asked, dismissed, blocked, blocking, gone, left = others
    await rooms.graph.follow(mine, friend)
    for each in others:
        await rooms.graph.follow(friend, each)
    await set_private(rooms, asked, is_private=True)
    await rooms.graph.follow(mine, asked)
    await me.call("DELETE", f"/suggestions/{dismissed}")
    await rooms.graph.block(mine, blocked)
    await rooms.graph.block(blocking, mine)
    await set_status(rooms, gone, "suspended")
    await rooms.suggestions.rank_popular()

    assert [name for name, _ in await suggested(me)] == ["left"]
    assert left in await rooms.graph.list_followees(friend)


async def test_the_ranking_drops_accounts_that_are_no_longer_popular(
    rooms: Rooms, client: AsyncClient
) -> None:
    me = await join(client, "zoe")
    ana, bo, cy = await sign_up_people(client, "ana", "bo", "cy")
    await rooms.graph.follow(ana, bo)
    await rooms.suggestions.rank_popular()
    assert await suggested(me) == [("bo", 0)]

    await rooms.graph.unfollow(ana, bo)
    await rooms.graph.follow(ana, cy)
    await rooms.suggestions.rank_popular()

    assert await suggested(me) == [("cy", 0)]
