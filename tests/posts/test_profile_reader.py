"""A profile reads one shard, shows what its viewer may see, and is invalidated at once."""

import contextlib
from collections.abc import Generator
from typing import Any

import pytest
from httpx import AsyncClient

from tests.application import serve
from tests.posts.people import block, crowd, follow, id_of, make_private, run_sql
from tests.support import Person
from tintype.base.settings import Settings
from tintype.wiring import Rooms


async def far_from(rooms: Rooms, client: AsyncClient, person: Person) -> Person:
    """Somebody whose account is on another shard."""
    home = rooms.shards.shard_of(id_of(person))
    people = await crowd(client, 12, name="other")
    return next(each for each in people if rooms.shards.shard_of(id_of(each)) != home)


@pytest.mark.slow
async def test_a_profile_shows_the_account_the_relation_and_twelve_posts(ana: Person, bo: Person) -> None:
    posts = [await ana.publish(str(number)) for number in range(13)]
    await ana.call("PUT", f"/posts/{posts[0]['post_id']}/pin")
    await bo.call("PUT", f"/posts/{posts[12]['post_id']}/like")
    await follow(bo, ana)

    profile = (await bo.call("GET", "/profiles/ANA")).json()

    assert (profile["username"], profile["post_count"], profile["follower_count"]) == ("ana", 13, 1)
    assert [name for name, is_so in profile["relation"].items() if is_so] == ["viewer_follows"]
    shown = [each["post_id"] for each in profile["posts"]]
    assert shown == [posts[0]["post_id"], *(posts[number]["post_id"] for number in range(12, 1, -1))]
    assert [each["viewer_has_liked"] for each in profile["posts"]] == [False, True, *[False] * 10]
    rest = await bo.call(
        "GET", f"/accounts/{ana.account_id}/posts", params={"cursor": profile["next_cursor"]}
    )
    assert [each["post_id"] for each in rest.json()["posts"]] == [posts[1]["post_id"]]


async def test_a_profile_reads_one_shard(
    rooms: Rooms, client: AsyncClient, ana: Person, reads: list[tuple[str, int]]
) -> None:
    viewer = await far_from(rooms, client, ana)
    posts = [await ana.publish(str(number)) for number in range(3)]
    await viewer.call("PUT", f"/posts/{posts[0]['post_id']}/like")
    await rooms.profiles.get("ana", viewer=None)  # from here on the name is known
    await rooms.accounts.invalidate(id_of(ana))
    await rooms.posts.invalidate(
        *(each.id for each in (await rooms.profiles.get("ana", viewer=None)).posts.items)
    )
    await rooms.accounts.invalidate(id_of(ana))
    reads.clear()

    cold = await rooms.profiles.get("ana", viewer=id_of(viewer))
    cold_reads = list(reads)
    reads.clear()
    warm = await rooms.profiles.get("ana", viewer=id_of(viewer))

    home = rooms.shards.shard_of(id_of(ana))
    assert cold == warm
    assert len(cold.posts.items) == 3
    assert {number for _, number in [*cold_reads, *reads]} == {home}
    assert sorted(name for name, _ in cold_reads) == [
        "gather_accounts",
        "gather_counts",
        "gather_posts",
        "page_of_profile",
        "relation_at",
    ]
    assert sorted(name for name, _ in reads) == ["page_of_profile", "relation_at"]


async def test_a_guest_reads_a_profile_with_one_query(
    client: AsyncClient, ana: Person, reads: list[tuple[str, int]]
) -> None:
    await ana.publish()
    await client.get("/api/v1/profiles/ana")
    reads.clear()

    answer = await client.get("/api/v1/profiles/ana")

    assert answer.status_code == 200
    assert [name for name, _ in reads] == ["page_of_profile"]


async def test_a_private_profile_shows_its_card_and_no_posts(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person
) -> None:
    await ana.publish()
    await follow(bo, ana)
    await make_private(rooms, ana)

    stranger = (await client.get("/api/v1/profiles/ana")).json()
    follower = (await bo.call("GET", "/profiles/ana")).json()

    assert (stranger["shows_posts"], stranger["posts"], stranger["post_count"]) == (False, [], 1)
    assert (follower["shows_posts"], len(follower["posts"])) == (True, 1)


@pytest.mark.parametrize("is_blocker", [True, False])
@pytest.mark.slow
async def test_a_block_hides_a_profile_as_if_there_were_none(
    rooms: Rooms, ana: Person, bo: Person, *, is_blocker: bool
) -> None:
    await ana.publish()
    await bo.call("GET", "/profiles/ana")
    await block(rooms, *((ana, bo) if is_blocker else (bo, ana)))

    hidden = await bo.call("GET", "/profiles/ana")
    missing = await bo.call("GET", "/profiles/nobody_here")

    assert hidden.status_code == missing.status_code == 404
    assert {**hidden.json(), "request_id": ""} == {**missing.json(), "request_id": ""}
    for path in ("posts", "tagged"):
        assert (await bo.call("GET", f"/accounts/{ana.account_id}/{path}")).status_code == 404


async def test_a_rename_is_noticed_without_an_event(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person
) -> None:
    for name in ("ana", "bo"):
        assert (await client.get(f"/api/v1/profiles/{name}")).status_code == 200
    await rename(rooms, ana, "anna")
    await rename(rooms, bo, "ana")

    assert (await client.get("/api/v1/profiles/anna")).json()["account_id"] == ana.account_id
    assert (await client.get("/api/v1/profiles/ana")).json()["account_id"] == bo.account_id
    assert (await client.get("/api/v1/profiles/bo")).status_code == 404


async def rename(rooms: Rooms, person: Person, name: str) -> None:
    """Change a username directly in the database, without any event."""
    async with rooms.shards.of(person.username).begin() as tx:
        await tx.connection.execute(f"DELETE FROM usernames WHERE username = '{person.username}'")
    async with rooms.shards.of(name).begin() as tx:
        await tx.connection.execute(
            f"INSERT INTO usernames (username, account_id) VALUES ('{name}', {person.account_id})"
        )
    await run_sql(
        rooms, id_of(person), f"UPDATE accounts SET username = '{name}' WHERE id = {person.account_id}"
    )
    await rooms.accounts.invalidate(id_of(person))


@pytest.mark.parametrize("name", ["", "%00", "x" * 300, "ä", "..", "%F0%9F%8C%9E"])
async def test_malformed_usernames_are_not_found(client: AsyncClient, ana: Person, name: str) -> None:
    assert (await client.get(f"/api/v1/profiles/{name}")).status_code == 404


async def test_an_unchanged_response_is_304_without_a_body(ana: Person, bo: Person) -> None:
    post = await ana.publish()
    for path in (f"/posts/{post['post_id']}", "/profiles/ana", f"/accounts/{ana.account_id}/posts"):
        first = await bo.call("GET", path)
        etag = first.headers["ETag"]

        same = await bo.call("GET", path, headers={"If-None-Match": f'"other", W/{etag.removeprefix("W/")}'})
        await bo.call("PUT", f"/posts/{post['post_id']}/like")
        changed = await bo.call("GET", path, headers={"If-None-Match": etag})
        await bo.call("DELETE", f"/posts/{post['post_id']}/like")

        assert (same.status_code, same.content) == (304, b"")
        assert (changed.status_code, changed.headers["ETag"] == etag) == (200, False)
        assert first.headers["Cache-Control"] == "private, no-store"


async def test_guests_read_what_is_public_unless_the_operator_says_no(
    rooms: Rooms, client: AsyncClient, ana: Person
) -> None:
    post = await ana.publish()
    paths = [
        f"/api/v1/posts/{post['post_id']}",
        f"/api/v1/posts/{post['post_id']}/likes",
        "/api/v1/profiles/ana",
        f"/api/v1/accounts/{ana.account_id}/posts",
        f"/api/v1/accounts/{ana.account_id}/tagged",
    ]
    assert [(await client.get(path)).status_code for path in paths] == [200] * 5

    with changed_settings(rooms, guests_may_read=False):
        async with serve(rooms) as closed:
            assert [(await closed.get(path)).status_code for path in paths] == [401] * 5


@contextlib.contextmanager
def changed_settings(rooms: Rooms, **changes: Any) -> Generator[None]:
    """The rooms with other settings."""
    before = rooms.settings
    fields = {name: getattr(before, name) for name in Settings.__struct_fields__}
    object.__setattr__(rooms, "settings", Settings(**(fields | changes)))
    try:
        yield
    finally:
        object.__setattr__(rooms, "settings", before)
