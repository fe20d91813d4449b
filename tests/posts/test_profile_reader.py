"""A profile reads one shard, shows what its viewer may see, and is invalidated at once."""

import contextlib
from collections.abc import Generator
from typing import Any

import msgspec
import pytest
from httpx import AsyncClient
from msgspec.structs import replace

from tests.application import serve
from tests.posts.people import block, crowd, follow, id_of, make_private, run_sql
from tests.support import Person
from tintype.api.views.context import context_for
from tintype.api.views.grid_fragments import GridFragments
from tintype.api.views.posts import show_grid_post
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
        "read_profile",
    ]
    assert [name for name, _ in reads] == ["read_profile"]


async def test_a_guest_reads_a_profile_with_one_query(
    client: AsyncClient, ana: Person, reads: list[tuple[str, int]]
) -> None:
    await ana.publish()
    await client.get("/api/v1/profiles/ana")
    reads.clear()

    answer = await client.get("/api/v1/profiles/ana")

    assert answer.status_code == 200
    assert [name for name, _ in reads] == ["page_of_profile"]


async def test_what_changes_about_a_post_or_its_viewer_shows_on_the_profile_at_once(
    ana: Person, bo: Person
) -> None:
    first, second = await ana.publish(), await ana.publish()
    ids = [each["post_id"] for each in (second, first)]

    async def squares(viewer: Person) -> list[tuple[str, int | None, int, bool, bool]]:
        found = (await viewer.call("GET", "/profiles/ana")).json()["posts"]
        fields = ("post_id", "like_count", "comment_count", "is_pinned", "viewer_has_liked")
        return [tuple(each[name] for name in fields) for each in found]

    before = await squares(bo)
    await bo.call("PUT", f"/posts/{ids[1]}/like")
    await bo.call("POST", f"/posts/{ids[1]}/comments", json={"text": "well done"})
    liked = await squares(bo)
    of_author = await squares(ana)
    await ana.call("PATCH", f"/posts/{ids[1]}", json={"hides_like_count": True})
    hidden = await squares(bo)
    await ana.call("PUT", f"/posts/{ids[1]}/pin")
    pinned = await squares(ana)

    assert before == [(each, 0, 0, False, False) for each in ids]
    assert liked == [before[0], (ids[1], 1, 1, False, True)]
    assert of_author == [before[0], (ids[1], 1, 1, False, False)]
    assert hidden == [before[0], (ids[1], None, 1, False, True)]
    assert pinned == [(ids[1], 1, 1, True, False), before[0]]


async def test_follows_and_posts_change_counts_and_leave_the_accounts_cached(
    ana: Person, bo: Person, reads: list[tuple[str, int]]
) -> None:
    async def counts(viewer: Person, path: str) -> tuple[int, int, int]:
        shown = (await viewer.call("GET", path)).json()
        return shown["post_count"], shown["follower_count"], shown["following_count"]

    paths = (
        (bo, "/profiles/ana"),
        (ana, "/accounts/me"),
        (bo, "/accounts/by-name/ana"),
        (bo, "/accounts/me"),
    )
    before = [await counts(*each) for each in paths]
    reads.clear()

    await follow(bo, ana)
    await ana.publish()
    after = [await counts(*each) for each in paths]
    await bo.call("DELETE", f"/accounts/{ana.account_id}/follow")
    ended = [await counts(*each) for each in paths]

    assert before == [(0, 0, 0)] * 4
    assert after == [(1, 1, 0)] * 3 + [(0, 0, 1)]
    assert ended == [(1, 0, 0)] * 3 + [(0, 0, 0)]
    assert "gather_accounts" not in {name for name, _ in reads}


async def test_a_square_of_a_profile_is_what_the_view_says(rooms: Rooms, ana: Person, bo: Person) -> None:
    await ana.publish()
    await follow(bo, ana)
    await make_private(rooms, ana)
    profile = await rooms.profiles.get("ana", viewer=id_of(bo))
    [listed], account = profile.posts.items, profile.account.account
    [picture] = listed.cached_post.media
    named = replace(picture, alt_text='100 %b of it ,"like_count":7,"viewer_has_liked":true}')
    listed = replace(listed, cached_post=replace(listed.cached_post, media=(named,)), comment_count=3)
    context, fragments = context_for(account, rooms), GridFragments()

    rendered = [bytes(fragments.render(listed, account, context)) for _ in range(2)]
    opened = bytes(fragments.render(listed, replace(account, is_private=False), context))

    expected = msgspec.json.encode(show_grid_post(listed.post, account, context))
    assert rendered == [expected, expected]
    assert b"/media/~" in expected
    assert b"/media/~" not in opened


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
