"""Reads on a replica that lags behind: nothing that was taken away is shown, and everybody sees what they wrote."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from httpx import AsyncClient

from tests.application import serve
from tests.lagging_site import LaggingSite
from tests.support import join
from tintype.base.ids import AccountId, PostId
from tintype.wiring import Rooms

pytestmark = pytest.mark.slow
TOKEN = "tintype-read-token"


@dataclass(frozen=True)
class Site:
    """The site and a client of it."""

    lagging: LaggingSite
    client: AsyncClient

    @property
    def rooms(self) -> Rooms:
        return self.lagging.rooms

    async def pause_replay(self, path: str) -> None:
        await self.lagging.pause_replay(self.client, path)


@pytest.fixture
async def site(lagging_site: LaggingSite) -> AsyncIterator[Site]:
    async with serve(lagging_site.rooms) as client:
        yield Site(lagging_site, client)
        await lagging_site.resume_replay()


async def _ok(answer: Any) -> Any:
    response = await answer
    assert response.is_success, response.text
    return response.json() if response.content else None


async def test_a_lagging_replica_shows_nothing_that_was_taken_away(site: Site) -> None:
    ana, bo, cyd = [await join(site.client, name) for name in ("ana", "bo", "cyd")]
    kept, deleted, archived, hidden = [await ana.publish(f"{word} #dusk") for word in ("a", "b", "c", "d")]
    for post in (kept, deleted, archived, hidden):
        await site.rooms.search.index_post(PostId(int(post["post_id"])), AccountId(int(ana.account_id)))
    await site.rooms.search.index_account(AccountId(int(ana.account_id)))
    under = f"/posts/{kept['post_id']}/comments"
    first, withdrawn = [await _ok(cyd.call("POST", under, json={"text": text})) for text in ("one", "two")]
    await site.pause_replay("/profiles/ana")

    await _ok(ana.call("DELETE", f"/posts/{deleted['post_id']}"))
    await _ok(ana.call("PUT", f"/posts/{archived['post_id']}/archive"))
    await site.rooms.posts.hide(PostId(int(hidden["post_id"])), AccountId(int(ana.account_id)))
    await _ok(cyd.call("DELETE", f"/comments/{withdrawn['comment_id']}"))
    before = site.lagging.count_replica_reads()
    lists = ("/profiles/ana", f"/accounts/{ana.account_id}/posts", "/tags/dusk/posts", under)
    shown = {path: (await _ok(bo.call("GET", path))) for path in lists}

    assert site.lagging.count_replica_reads() - before >= len(lists)
    for path in lists[:3]:
        text = str(shown[path])
        assert kept["post_id"] in text, path
        for gone in (deleted, archived, hidden):
            assert gone["post_id"] not in text, path
    assert first["comment_id"] in str(shown[under])
    assert withdrawn["comment_id"] not in str(shown[under])

    await _ok(bo.call("PUT", f"/blocks/{cyd.account_id}"))
    assert first["comment_id"] not in str(await _ok(bo.call("GET", under)))
    await _ok(ana.call("PATCH", "/accounts/me", json={"is_private": True}))
    for path in lists:
        answer = await bo.call("GET", path)
        assert kept["post_id"] not in answer.text, path
    await _ok(ana.call("PUT", f"/blocks/{bo.account_id}"))
    for path in (lists[0], lists[1], under):
        assert (await bo.call("GET", path)).status_code == 404, path
    found = await _ok(bo.call("GET", "/search/people", params={"q": "ana"}))
    assert ana.account_id not in str(found)


async def test_everybody_reads_what_they_wrote_at_once(site: Site) -> None:
    dee = await join(site.client, "dee")
    post = await dee.publish("first")
    await site.pause_replay("/profiles/dee")

    second = await dee.call("POST", f"/posts/{post['post_id']}/comments", json={"text": "just now"})
    under = f"/posts/{post['post_id']}/comments"
    comments = await dee.call("GET", under, headers={TOKEN: second.headers[TOKEN]})
    assert second.json()["comment_id"] in comments.text
    for_others = await site.client.get(f"/api/v1{under}")
    assert second.json()["comment_id"] not in for_others.text  # the replica does lag

    media_id = (await dee.upload()).json()["media_id"]
    made = await dee.call("POST", "/posts", json={"media_ids": [media_id], "caption": "now"})
    profile = await dee.call("GET", "/profiles/dee", headers={TOKEN: made.headers[TOKEN]})
    assert made.json()["post_id"] in profile.text
    edited = await dee.call("PATCH", "/accounts/me", json={"bio": "new here"})
    profile = await dee.call("GET", "/profiles/dee", headers={TOKEN: edited.headers[TOKEN]})
    assert "new here" in profile.text

    for garbage in ("", "1", "x" * 5000, "1.zz", "1.1.pg1~1~ffffffffffffffffff"):
        answer = await dee.call("GET", f"/posts/{post['post_id']}/comments", headers={TOKEN: garbage})
        assert answer.status_code == 200


async def test_a_browser_carries_its_position_in_a_cookie_that_scripts_cannot_read(site: Site) -> None:
    answer = await site.client.post(
        "/api/v1/accounts", json={"username": "eve", "password": "correct horse battery"}
    )
    [cookie] = [each for each in answer.headers.get_list("set-cookie") if each.startswith("tt_reads=")]
    for attribute in ("HttpOnly", "SameSite=Lax", "Path=/api"):
        assert attribute in cookie
    assert len(cookie) < 200
    assert TOKEN not in answer.headers
    site.client.cookies.clear()
