"""Saved posts and collections."""

import asyncio

from tests.support import Person
from tintype.base.ids import AccountId, PostId
from tintype.wiring import Rooms


async def create_collection(person: Person, name: str) -> str:
    answer = await person.call("POST", "/collections", json={"name": name})
    assert answer.status_code == 201, answer.text
    return answer.json()["collection_id"]


async def saved(person: Person, **params: object) -> list[str]:
    return [each["post_id"] for each in (await person.call("GET", "/saves", params=params)).json()["posts"]]


async def test_the_latest_save_comes_first_and_saving_twice_changes_nothing(ana: Person, bo: Person) -> None:
    posts = [await ana.publish(f"{number}") for number in range(3)]
    for post in (*posts, posts[0]):
        assert (await bo.call("PUT", f"/posts/{post['post_id']}/save", json={})).status_code == 204

    assert await saved(bo) == [post["post_id"] for post in posts[::-1]]
    assert await saved(ana) == []

    await bo.call("DELETE", f"/posts/{posts[1]['post_id']}/save")
    assert await saved(bo) == [posts[2]["post_id"], posts[0]["post_id"]]


async def test_pages_of_saves_have_each_post_once(ana: Person, bo: Person) -> None:
    posts = [await ana.publish(f"{number}") for number in range(5)]
    for post in posts:
        await bo.call("PUT", f"/posts/{post['post_id']}/save", json={})

    found: list[str] = []
    cursor = None
    for _ in range(3):
        page = (
            await bo.call("GET", "/saves", params={"limit": 2} | ({"cursor": cursor} if cursor else {}))
        ).json()
        found += [each["post_id"] for each in page["posts"]]
        cursor = page["next_cursor"]

    assert cursor is None
    assert found == [post["post_id"] for post in posts[::-1]]


async def test_a_post_can_be_in_several_collections(ana: Person, bo: Person) -> None:
    post = await ana.publish()
    light, home = await create_collection(bo, "Light"), await create_collection(bo, "Home")

    await bo.call("PUT", f"/posts/{post['post_id']}/save", json={"collection_ids": [light, home]})
    await bo.call("DELETE", f"/collections/{light}/posts/{post['post_id']}")

    assert await saved(bo, collection=light) == []
    assert await saved(bo, collection=home) == [post["post_id"]]
    [first, second] = (await bo.call("GET", "/collections")).json()["collections"]
    assert (first["name"], first["post_count"]) == ("Light", 0)
    assert (second["post_count"], second["cover_post_id"]) == (1, post["post_id"])


async def test_only_the_owner_can_use_a_collection(ana: Person, bo: Person) -> None:
    post, theirs = await ana.publish(), await create_collection(ana, "Secret")

    refusals = [
        await bo.call("GET", "/saves", params={"collection": theirs}),
        await bo.call("PATCH", f"/collections/{theirs}", json={"name": "Mine"}),
        await bo.call("DELETE", f"/collections/{theirs}"),
        await bo.call("PUT", f"/collections/{theirs}/posts/{post['post_id']}"),
        await bo.call("DELETE", f"/collections/{theirs}/posts/{post['post_id']}"),
    ]

    assert {(each.status_code, each.json()["code"]) for each in refusals} == {(404, "collection_not_found")}


async def test_collection_names_are_unique_in_any_case_and_under_concurrency(bo: Person) -> None:
    names = ["Straße", "STRASSE", "strasse ", "Straße"]
    answers = await asyncio.gather(*(bo.call("POST", "/collections", json={"name": name}) for name in names))

    assert sorted(each.status_code for each in answers) == [201, 409, 409, 409]


async def test_collections_are_renamed_ordered_and_deleted(ana: Person, bo: Person) -> None:
    post = await ana.publish()
    first, second = await create_collection(bo, "A"), await create_collection(bo, "B")
    await bo.call("PUT", f"/collections/{first}/posts/{post['post_id']}")

    assert (await bo.call("PATCH", f"/collections/{second}", json={"name": "a"})).status_code == 409
    assert (await bo.call("PATCH", f"/collections/{first}", json={"name": "Alpha"})).status_code == 204
    await bo.call("PUT", "/collections/order", json={"collection_ids": [second, first]})
    listed = (await bo.call("GET", "/collections")).json()["collections"]
    assert [each["name"] for each in listed] == ["B", "Alpha"]

    assert (await bo.call("DELETE", f"/collections/{first}")).status_code == 204
    assert await saved(bo) == [post["post_id"]]


async def test_a_post_that_does_not_exist_cannot_be_saved(bo: Person) -> None:
    answer = await bo.call("PUT", "/posts/123456/save", json={})

    assert (answer.status_code, answer.json()["code"]) == (404, "post_not_found")


async def test_saves_are_exported_and_erased(rooms: Rooms, ana: Person, bo: Person) -> None:
    post, owner = await ana.publish(), AccountId(int(bo.account_id))
    collection_id = await create_collection(bo, "Weekend")
    await bo.call("PUT", f"/posts/{post['post_id']}/save", json={"collection_ids": [collection_id]})

    exported = [record.content async for record in rooms.saves.personal_data.export(owner)]
    erased = await rooms.saves.personal_data.erase(owner)

    assert exported == [{"post_id": post["post_id"], "collections": ["Weekend"]}]
    assert (erased, await rooms.saves.personal_data.count_left(owner)) == (3, 0)
    assert await rooms.saves.which_saved(owner, [PostId(int(post["post_id"]))]) == set()
