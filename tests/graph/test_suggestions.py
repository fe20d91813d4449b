from httpx import AsyncClient

from tests.graph.graph_state import set_private, set_status, sign_up_people
from tests.support import PASSWORD, Person, join
from tintype.accounts import invitation_code
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


async def test_on_a_young_site_those_who_posted_are_suggested_before_anybody_follows_anybody(
    rooms: Rooms, client: AsyncClient
) -> None:
    me = await join(client, "zoe")
    people = {name: await join(client, name) for name in ("ana", "shy", "away", "dismissed")}
    for person in people.values():
        await person.publish()
    await join(client, "silent")
    await set_private(rooms, AccountId(int(people["shy"].account_id)), is_private=True)
    await set_status(rooms, AccountId(int(people["away"].account_id)), "suspended")
    await me.call("DELETE", f"/suggestions/{people['dismissed'].account_id}")

    assert await suggested(me) == [("ana", 0)]


async def join_by(rooms: Rooms, client: AsyncClient, inviter: Person, username: str) -> Person:
    """Somebody joins by the link of another."""
    link = await rooms.accounts.invitations.create(AccountId(int(inviter.account_id)), max_uses=1, days=1)
    answer = await client.post(
        "/api/v1/accounts",
        json={"username": username, "password": PASSWORD, "invitation": invitation_code(link)},
    )
    assert answer.status_code == 201, answer.text
    client.cookies.clear()
    return Person(client, answer.json()["account"]["account_id"], username, answer.json()["token"])


async def test_the_inviter_comes_first_and_then_whom_they_follow(rooms: Rooms, client: AsyncClient) -> None:
    ana = await join(client, "ana")
    cy, dee, star = await sign_up_people(client, "cy", "dee", "star")
    for each in (cy, dee):
        await rooms.graph.follow(AccountId(int(ana.account_id)), each)
        await rooms.graph.follow(each, star)
    await rooms.suggestions.rank_popular()

    bo = await join_by(rooms, client, ana, "bo")
    shown = (await bo.call("GET", "/suggestions")).json()["suggestions"]

    reasons = [(each["person"]["username"], each["reason"]) for each in shown]
    assert reasons[0] == ("ana", "inviter")
    assert set(reasons[1:3]) == {("cy", "followed_by_inviter"), ("dee", "followed_by_inviter")}
    assert reasons[3:] == [("star", "popular")]


async def test_whom_a_private_inviter_follows_stays_private(rooms: Rooms, client: AsyncClient) -> None:
    ana = await join(client, "ana")
    [cy] = await sign_up_people(client, "cy")
    await rooms.graph.follow(AccountId(int(ana.account_id)), cy)
    await set_private(rooms, AccountId(int(ana.account_id)), is_private=True)

    bo = await join_by(rooms, client, ana, "bo")
    shown = (await bo.call("GET", "/suggestions")).json()["suggestions"]

    assert [(each["person"]["username"], each["reason"]) for each in shown] == [("ana", "inviter")]
