"""Every kind of file, in every state, for every caller, by every link: what is taken away is gone, and nothing else."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.api.access.media_plane import (
    CALLERS,
    GONE,
    STATES,
    Author,
    Caller,
    Link,
    MediaPlane,
    Privacy,
    State,
    change_state,
    files_of,
    is_given,
    make_author,
    open_plane,
    opens,
)
from tests.api.access.scenario import account_id, ok
from tests.application import serve
from tests.stories.support import ServerClock
from tests.support import RowCleaner
from tintype.base.ids import PostId
from tintype.wiring import Rooms

pytestmark = pytest.mark.slow

OWN_PATHS = ("", "/original", "/exif")


@pytest.fixture(scope="module")
async def plane(opened_rooms: Rooms, row_cleaner: RowCleaner) -> AsyncIterator[MediaPlane]:
    async with serve(opened_rooms) as client:
        yield await open_plane(client, opened_rooms)
    await row_cleaner.run()
    await opened_rooms.redis.flushdb()


@pytest.fixture
async def clock(opened_rooms: Rooms) -> AsyncIterator[ServerClock]:
    moved = ServerClock(opened_rooms)
    yield moved
    await moved.reset()


@pytest.mark.parametrize("privacy", ["public", "private"])
@pytest.mark.parametrize("state", STATES)
async def test_files_open_as_the_rule_says(
    plane: MediaPlane, clock: ServerClock, privacy: Privacy, state: State
) -> None:
    author = await make_author(plane, privacy)
    await _bring_about(plane, clock, author, state)

    wrong = [
        problem
        for content in GONE
        for caller in CALLERS
        for problem in await _check_content(plane, author, state, content, caller)
    ]

    assert wrong == []


async def _bring_about(plane: MediaPlane, clock: ServerClock, author: Author, state: State) -> None:
    if state == "story ended":
        await clock.move(24.5)
        await plane.rooms.redis.flushdb()  # as if the seconds for which a story's record is kept had passed
    else:
        await change_state(plane, author, state)


async def _check_content(
    plane: MediaPlane, author: Author, state: State, content: str, caller: Caller
) -> list[str]:
    if state in {"suspended", "deactivated", "leaving"} and caller.startswith("owner"):
        caller = "anonymous"  # every session and token of theirs has ended
    links: dict[Link, str] = {"plain": f"/media/{author.folders[content]}/320.jpg"}
    if given := author.before.get((content, caller)):
        links["before"] = given
    now = await plane.get_link(author, content, caller)
    wrong: list[str] = []
    if content in author.shown_at and (now is not None) != is_given(content, author.privacy, state, caller):
        wrong.append(f"{content}, {caller}: is given {now}")
    if now:
        links["now"] = now
    for link, url in links.items():
        expected = 200 if opens(content, author.privacy, state, caller, link) else 404
        for name in files_of(content):
            wrong += await _check_file(plane, author, caller, f"{url.rsplit('/', 1)[0]}/{name}", expected)
    return wrong


async def _check_file(
    plane: MediaPlane, author: Author, caller: Caller, url: str, expected: int
) -> list[str]:
    asked: list[tuple[str, dict[str, str], int]] = [
        ("GET", {}, expected),
        ("HEAD", {}, expected),
        ("GET", {"If-None-Match": "*"}, 304 if expected == 200 else 404),
        ("GET", {"Range": "bytes=0-3"}, 206 if expected == 200 else 404),
    ]
    found = [
        (method, headers, await plane.status(author, caller, method, url, **headers))
        for method, headers, _ in asked
    ]
    return [
        f"{caller} {method} {url} {headers}: {status}, not {right}"
        for (method, headers, status), (_, _, right) in zip(found, asked, strict=True)
        if status != right
    ]


@pytest.mark.parametrize("state", STATES)
async def test_the_original_is_its_owners_until_it_is_gone(
    plane: MediaPlane, clock: ServerClock, state: State
) -> None:
    author = await make_author(plane, "public")
    await _bring_about(plane, clock, author, state)
    at = f"/api/v1/media/{author.ids['post media']}"

    for path in OWN_PATHS:
        for caller in CALLERS:
            status = await plane.status(author, caller, "GET", f"{at}{path}")
            is_open = caller in {"owner", "owner's program"} and state not in GONE["post"]
            assert (status == 200) is is_open, (caller, path, status)
            assert is_open or status in {401, 403, 404}


@pytest.mark.parametrize("state", ["as it is", "archived", "hidden", "deleted", "suspended", "leaving"])
async def test_moderators_see_the_evidence_of_a_case_and_nobody_caches_it(
    plane: MediaPlane, state: State
) -> None:
    author, moderator = await make_author(plane, "private"), plane.callers["moderator"]
    body = {"kind": "post", "object_id": author.ids["post"], "reason": "spam"}
    await ok(plane.callers["follower"].call("POST", "/reports", json=body))
    await change_state(plane, author, state)

    cases: list[dict[str, Any]] = (await ok(moderator.call("GET", "/moderation/cases")))["cases"]
    [url] = [case["evidence_urls"][0] for case in cases if case["object_id"] == author.ids["post"]]
    answer = await plane.client.get(url)

    assert (answer.status_code, answer.headers["cache-control"]) == (200, "private, no-store")


@pytest.mark.parametrize("state", ["archived", "hidden", "deleted", "suspended"])
async def test_what_comes_back_opens_again(plane: MediaPlane, state: State) -> None:
    author = await make_author(plane, "public")
    url = f"/media/{author.folders['post']}/320.jpg"
    post_id, rooms = author.ids["post"], plane.rooms
    await change_state(plane, author, state)
    gone = await plane.status(author, "anonymous", "GET", url)

    if state == "archived":
        await ok(author.person.call("DELETE", f"/posts/{post_id}/archive"))
    elif state == "hidden":
        await rooms.posts.restore(PostId(int(post_id)), account_id(author.person))
    elif state == "suspended":
        await rooms.accounts.restore(account_id(author.person))
    back = await plane.status(author, "anonymous", "GET", url)

    assert gone == 404
    assert back == (404 if state == "deleted" else 200)
