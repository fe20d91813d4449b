"""What a real nginx with the shipped configuration still serves of files that were taken away (ADR 31): for as long as
`media_edge_cache_s` says and no longer, also while Tintype is away; and nothing that is not for everybody.
"""

import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from httpx import AsyncClient, Response

from tests.media.nginx import behind_nginx
from tests.media.support import account_of
from tests.support import Person, eventually, join
from tests.web_process import WebProcess, open_web
from tintype.wiring import Rooms

LONG_S, SHORT_S = 3_600, 1
pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Edge:
    """nginx in front of a web process, and somebody who posts."""

    client: AsyncClient
    eve: Person
    web: WebProcess
    folder: Path

    async def get(self, url: str, **headers: str) -> Response:
        """Ask for a file, as somebody who is not signed in unless the headers say so."""
        self.client.cookies.clear()
        return await self.client.get(url, headers={"Accept": "image/jpeg", **headers})

    def cached_paths(self) -> list[str]:
        """The paths that nginx has stored, from the keys in its files."""
        files = [each for each in (self.folder / "tintype").rglob("*") if each.is_file()]
        lines = [line for each in files for line in each.read_bytes()[:2_000].split(b"\n")]
        return sorted(line.removeprefix(b"KEY: ").decode() for line in lines if line.startswith(b"KEY: "))


@asynccontextmanager
async def open_edge(rooms: Rooms, folder: Path, edge_cache_s: int) -> AsyncGenerator[Edge]:
    chosen = {"media_store": str(folder / "media"), "media_edge_cache_s": edge_cache_s}
    with open_web(rooms.settings, rate_limits="all=off", **chosen) as web:
        async with behind_nginx(web.port, folder) as client:
            yield Edge(client, await join(client, "eve"), web, folder)


Removal = Callable[[Rooms, Person, dict[str, Any]], Awaitable[object]]
REMOVALS: dict[str, Removal] = {
    "archived": lambda _, eve, post: eve.call("PUT", f"/posts/{post['post_id']}/archive"),
    "deleted": lambda _, eve, post: eve.call("DELETE", f"/posts/{post['post_id']}"),
    "suspended": lambda rooms, eve, _: rooms.accounts.suspend(account_of(eve)),
    "private": lambda _, eve, __: eve.call("PATCH", "/accounts/me", json={"is_private": True}),
}


async def test_what_is_taken_away_is_served_no_longer_than_the_setting_says(
    rooms: Rooms, tmp_path: Path
) -> None:
    async with open_edge(rooms, tmp_path, SHORT_S) as edge:
        for number, (name, take_away) in enumerate(REMOVALS.items()):
            author = await join(edge.client, f"author.{number}")
            post = await author.publish()
            urls = post["media"][0]["urls"]
            for size in ("640", "1080"):
                assert (await edge.get(urls[size])).status_code == 200
            await take_away(rooms, author, post)

            async def is_gone(urls: dict[str, str] = urls) -> bool:
                return {(await edge.get(urls[size])).status_code for size in ("640", "1080")} == {404}

            await eventually(is_gone, what=f"nginx serves nothing of what is {name}")


async def test_nothing_but_the_setting_says_how_long(rooms: Rooms, tmp_path: Path) -> None:
    """With a long time and without a purge, nginx serves its copy: the minute by default is what bounds it."""
    async with open_edge(rooms, tmp_path, LONG_S) as edge:
        post = await edge.eve.publish()
        url = post["media"][0]["urls"]["640"]
        first = await edge.get(url)
        await edge.eve.call("DELETE", f"/posts/{post['post_id']}")
        second = await edge.get(url)

    assert first.headers["cache-control"].endswith(f"s-maxage={LONG_S}")
    assert (second.status_code, second.headers["x-cache"]) == (200, "HIT")


async def test_a_copy_is_served_only_while_tintype_confirms_it(rooms: Rooms, tmp_path: Path) -> None:
    async with open_edge(rooms, tmp_path, SHORT_S) as edge:
        url = (await edge.eve.publish())["media"][0]["urls"]["640"]
        content = (await edge.get(url)).content

        async def is_revalidated() -> bool:
            answer = await edge.get(url)
            assert answer.content == content
            return answer.headers["x-cache"] == "REVALIDATED"

        async def is_refused() -> bool:
            return (await edge.get(url)).status_code == 502

        await eventually(is_revalidated, what="nginx asks whether it may still serve its copy")
        os.kill(edge.web.pid, signal.SIGTERM)
        await eventually(is_refused, what="nginx does not know whether it may still serve its copy")


async def test_what_is_not_for_everybody_is_never_stored(rooms: Rooms, tmp_path: Path) -> None:
    async with open_edge(rooms, tmp_path, LONG_S) as edge:
        eve = edge.eve
        mine = {"Authorization": f"Bearer {eve.token}"}
        archived = await eve.publish()
        await eve.call("PUT", f"/posts/{archived['post_id']}/archive")
        unsigned = archived["media"][0]["urls"]["640"]
        upload = (await eve.upload()).json()["urls"]["640"]
        await eve.call("PATCH", "/accounts/me", json={"is_private": True})
        private = (await eve.publish())["media"][0]["urls"]["640"]
        answers = [
            *[await edge.get(url) for url in (upload, private) for _ in range(2)],
            *[await edge.get(unsigned, **mine) for _ in range(2)],
        ]
        stranger = await edge.get(unsigned)
        broken = await edge.get(private.replace("/media/~", "/media/~1"))

        assert "/~" in upload
        assert "/~" in private
        assert {each.status_code for each in answers} == {200}
        assert {each.headers["x-cache"] for each in answers} == {"MISS"}
        assert not any("public" in each.headers["cache-control"] for each in answers)
        assert (stranger.status_code, broken.status_code) == (404, 404)
        assert edge.cached_paths() == []
