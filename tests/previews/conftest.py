"""A site with an address of its own, whose pages are read as crawlers read them."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from httpx import AsyncClient, Response

from shardwright.ids import encode_short
from tests.application import serve
from tests.support import Person, join, photo
from tintype.previews import Previews, Sitemaps
from tintype.wiring import Rooms

SITE = "https://photos.example.org"
PAGE = (
    '<!doctype html><html><head><title>Tintype</title><meta name="description" content="The app." />'
    '<link rel="icon" href="/favicon.svg" /></head><body><div id="app"></div></body></html>'
)


@dataclass(frozen=True)
class Site:
    """The application behind its public address."""

    client: AsyncClient
    rooms: Rooms

    async def get(self, path: str, **headers: str) -> Response:
        """A guest's request, unless the headers say otherwise."""
        self.client.cookies.clear()
        return await self.client.get(path, headers=headers)

    async def join(self, username: str, **profile: Any) -> Person:
        """Somebody with a profile."""
        person = await join(self.client, username)
        if profile:
            answer = await person.call("PATCH", "/accounts/me", json=profile)
            assert answer.status_code == 200, answer.text
        return person

    async def post(
        self, person: Person, caption: str = "", *, width: int = 640, height: int = 480, **draft: Any
    ) -> str:
        """Publish a photo of this size; returns the path of the post."""
        media_id = (await person.upload(photo(width, height))).json()["media_id"]
        answer = await person.call(
            "POST", "/posts", json={"media_ids": [media_id], "caption": caption, **draft}
        )
        assert answer.status_code == 201, answer.text
        return f"/p/{encode_short(int(answer.json()['post_id']))}"


@pytest.fixture
def choices() -> dict[str, Any]:
    """Settings of the site; a test may parametrize this."""
    return {"search_engines": "sitemap"}


@pytest.fixture
async def site(rooms: Rooms, tmp_path: Path, choices: dict[str, Any]) -> AsyncIterator[Site]:
    (tmp_path / "index.html").write_text(PAGE)
    settings = msgspec.structs.replace(rooms.settings, web_dist=tmp_path, public_url=SITE, **choices)
    # A sitemap of this test's own: where its pages begin is kept for an hour.
    previews = Previews(rooms.accounts, rooms.visibility, rooms.posts, rooms.search, Sitemaps(rooms.shards))
    there = replace(rooms, settings=settings, previews=previews)
    async with serve(there, settings) as client:
        yield Site(client, there)
