"""What is taken away is gone: its files answer 404 at once, by every URL they were ever given out under."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from httpx import AsyncClient

from tests.media.support import account_of, on_its_shard
from tests.support import Person, photo
from tintype.base.ids import PostId
from tintype.stories import StoryId
from tintype.wiring import Rooms

pytestmark = pytest.mark.slow

Take = Callable[[Rooms, Person, dict[str, Any]], Awaitable[object]]
CONDITIONS: tuple[dict[str, str], ...] = (
    {},
    {"Accept": "image/webp"},
    {"Accept": "image/avif"},
    {"If-None-Match": "*"},
    {"If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT"},
    {"Range": "bytes=0-9"},
    {"Range": "bytes=99999999-"},
)


async def archive(_rooms: Rooms, eve: Person, post: dict[str, Any]) -> Any:
    return await eve.call("PUT", f"/posts/{post['post_id']}/archive")


async def delete(_rooms: Rooms, eve: Person, post: dict[str, Any]) -> Any:
    return await eve.call("DELETE", f"/posts/{post['post_id']}")


async def hide(rooms: Rooms, eve: Person, post: dict[str, Any]) -> None:
    await rooms.posts.hide(PostId(int(post["post_id"])), account_of(eve))


async def remove(rooms: Rooms, eve: Person, post: dict[str, Any]) -> None:
    await rooms.posts.remove(PostId(int(post["post_id"])), account_of(eve))


async def suspend(rooms: Rooms, eve: Person, _post: dict[str, Any]) -> None:
    await rooms.accounts.suspend(account_of(eve))


async def deactivate(rooms: Rooms, eve: Person, _post: dict[str, Any]) -> None:
    await rooms.accounts.deactivate(account_of(eve))


async def leave(rooms: Rooms, eve: Person, _post: dict[str, Any]) -> None:
    await rooms.accounts.begin_deletion(account_of(eve))


WAYS: tuple[Take, ...] = (archive, delete, hide, remove, suspend, deactivate, leave)


def name_of(way: Take) -> str:
    return getattr(way, "__name__", "")


async def upload(person: Person, kind: str) -> dict[str, Any]:
    sent = {"file": ("photo.jpg", photo(), "image/jpeg")}
    answer = await person.call("POST", "/media/upload", files=sent, data={"kind": kind})
    assert answer.status_code == 201, answer.text
    return answer.json()


def urls_of(*views: dict[str, Any]) -> set[str]:
    """Every URL of a file in these views, and the same without its signature."""
    given = {url for view in views for url in (*view["urls"].values(), *view["squares"].values())}
    given |= {f"{url.rpartition('/')[0]}/original" for url in given}
    return given | {unsigned(url) for url in given}


def unsigned(url: str) -> str:
    parts = url.split("/")
    return "/".join(part for part in parts if not part.startswith("~"))


async def still_open(http: AsyncClient, urls: set[str]) -> list[str]:
    """Those of the requests for these files that anybody still gets an answer to."""
    http.cookies.clear()
    plain: list[tuple[str, dict[str, str]]] = [(url, {}) for url in sorted(urls)]
    asked = [*plain, *((url, condition) for url in sorted(urls)[::7] for condition in CONDITIONS)]
    return [
        f"{method} {url} {condition}: {answer.status_code}"
        for url, condition in asked
        for method in ("GET", "HEAD")
        if (answer := await http.request(method, url, headers=condition)).status_code != 404
    ]


@pytest.mark.parametrize("kind", ["post", "avatar"])
@pytest.mark.parametrize("is_private", [False, True], ids=["public", "private"])
@pytest.mark.parametrize("take_away", WAYS, ids=name_of)
async def test_the_files_of_a_post_are_gone_for_others_with_the_post(
    http: AsyncClient, eve: Person, installation: Rooms, take_away: Take, is_private: bool, kind: str
) -> None:
    await eve.call("PATCH", "/accounts/me", json={"is_private": is_private})
    sent = await upload(eve, kind)
    post = (await eve.call("POST", "/posts", json={"media_ids": [sent["media_id"]]})).json()
    shown = post["media"][0]
    before = [(await http.get(url)).status_code for url in shown["urls"].values()]

    await take_away(installation, eve, post)

    assert set(before) == {200}
    assert await still_open(http, urls_of(sent, shown)) == []


async def test_an_archived_post_opens_for_its_author_and_again_for_all_when_it_is_back(
    http: AsyncClient, eve: Person, mo: Person
) -> None:
    post = await eve.publish()
    url = post["media"][0]["urls"]["640"]
    await eve.call("PUT", f"/posts/{post['post_id']}/archive")

    given = (await eve.call("GET", f"/posts/{post['post_id']}")).json()["media"][0]["urls"]["640"]
    as_author = await http.get(url, headers={"Authorization": f"Bearer {eve.token}"})
    as_other = await http.get(url, headers={"Authorization": f"Bearer {mo.token}"})
    by_link = await http.get(given)
    await eve.call("DELETE", f"/posts/{post['post_id']}/archive")
    back = await http.get(url)

    assert (by_link.status_code, as_author.status_code, as_other.status_code) == (200, 200, 404)
    assert by_link.headers["cache-control"].startswith("private, ")
    assert as_author.headers["cache-control"] == "private, no-cache"
    assert (back.status_code, given == url) == (200, False)


async def test_a_link_for_the_author_dies_with_the_post(http: AsyncClient, eve: Person) -> None:
    post = await eve.publish()
    await eve.call("PUT", f"/posts/{post['post_id']}/archive")
    given = (await eve.call("GET", f"/posts/{post['post_id']}")).json()["media"][0]["urls"]["640"]

    await eve.call("DELETE", f"/posts/{post['post_id']}")
    media_id = post["media"][0]["media_id"]
    refused = [await eve.call("GET", f"/media/{media_id}{path}") for path in ("", "/original", "/exif")]

    assert (await http.get(given)).status_code == 404
    assert [answer.status_code for answer in refused] == [404] * 3


async def test_an_upload_is_its_senders_until_it_is_posted(http: AsyncClient, eve: Person) -> None:
    sent = await upload(eve, "post")
    url = sent["urls"]["640"]

    before = [(await http.get(each)).status_code for each in (url, unsigned(url))]
    await eve.call("POST", "/posts", json={"media_ids": [sent["media_id"]]})
    after = [(await http.get(each)).status_code for each in (url, unsigned(url))]

    assert (before, after) == ([200, 404], [200, 200])


async def test_an_upload_that_expired_is_gone_before_the_purge(
    http: AsyncClient, eve: Person, installation: Rooms
) -> None:
    sent = await upload(eve, "post")
    expired = "UPDATE media SET expires_at = now() - interval '1 second' WHERE id = {id}"
    await on_its_shard(installation, sent["media_id"], expired)

    assert await still_open(http, urls_of(sent)) == []
    assert (await eve.call("GET", f"/media/{sent['media_id']}")).status_code == 404


@pytest.mark.parametrize("take_away", [suspend, deactivate, leave], ids=name_of)
async def test_an_avatar_is_gone_with_its_account(
    http: AsyncClient, eve: Person, installation: Rooms, take_away: Take
) -> None:
    sent = await upload(eve, "avatar")
    await eve.call("PUT", "/accounts/me/avatar", json={"media_id": sent["media_id"]})
    before = await http.get(unsigned(sent["urls"]["320"]))

    await take_away(installation, eve, {})

    assert before.status_code == 200
    assert await still_open(http, urls_of(sent)) == []


async def publish_story(eve: Person, audience: str) -> dict[str, Any]:
    media_id = (await upload(eve, "story"))["media_id"]
    answer = await eve.call("POST", "/stories", json={"media_id": media_id, "audience": audience})
    assert answer.status_code == 201, answer.text
    return answer.json()


@pytest.mark.parametrize("audience", ["everyone", "close_friends"])
@pytest.mark.parametrize("way", ["removed", "hidden", "deleted by a moderator"])
async def test_the_files_of_a_story_are_gone_with_the_story(
    http: AsyncClient, eve: Person, installation: Rooms, way: str, audience: str
) -> None:
    story = await publish_story(eve, audience)
    before = await http.get(story["media"]["url"])
    story_id = StoryId(int(story["story_id"]))

    if way == "removed":
        await eve.call("DELETE", f"/stories/{story['story_id']}")
    elif way == "hidden":
        await installation.stories.hide(story_id)
    else:
        await installation.stories.delete_with_copies(story_id)

    assert before.status_code == 200
    assert await still_open(http, urls_of(story["media"])) == []


async def test_the_files_of_close_friends_stories_are_signed(http: AsyncClient, eve: Person) -> None:
    story = await publish_story(eve, "close_friends")
    body = {"title": "Friends", "story_ids": [story["story_id"]]}
    kept = (await eve.call("POST", "/highlights", json=body)).json()
    given = [story["media"]["url"], kept["items"][0]["media"]["url"], kept["cover_url"]]

    assert [(await http.get(url)).status_code for url in given] == [200] * 3
    assert [(await http.get(unsigned(url))).status_code for url in given] == [404] * 3
    answer = await http.get(given[0])
    assert answer.headers["cache-control"].startswith("private, max-age=")


async def test_a_story_in_a_highlight_stays_until_it_leaves_the_highlight(
    http: AsyncClient, eve: Person
) -> None:
    story = await publish_story(eve, "everyone")
    body = {"title": "Kept", "story_ids": [story["story_id"]]}
    kept = (await eve.call("POST", "/highlights", json=body)).json()
    url = story["media"]["url"]

    await eve.call("DELETE", f"/stories/{story['story_id']}")
    in_highlight = await http.get(url)
    await eve.call("DELETE", f"/highlights/{kept['highlight_id']}")

    assert in_highlight.status_code == 200
    assert await still_open(http, urls_of(story["media"])) == []
