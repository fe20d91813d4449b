"""robots.txt and the sitemap: only what is public, and only where the settings offer it."""

from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.api.access.scenario import account_id
from tests.previews.conftest import SITE, Site
from tests.previews.strict_parsers import parse_sitemap
from tests.support import set_status
from tintype.previews import sitemap
from tintype.previews.sitemap import Sitemaps


async def _read_all(site: Site) -> list[str]:
    index = await site.get("/sitemap.xml")
    assert index.headers["content-type"].startswith("application/xml")
    found: list[str] = []
    for address in parse_sitemap(index.text, "sitemap"):
        page = await site.get(urlsplit(address).path)
        assert page.status_code == 200, address
        found += parse_sitemap(page.text, "url")
    return found


async def test_the_sitemap_lists_every_public_post_and_profile_and_nothing_else(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sitemap, "URLS_PER_PAGE", 2)
    monkeypatch.setattr(sitemap, "ROWS_PER_READ", 1)
    people = {name: await site.join(name) for name in ("ana", "bo", "private", "unlisted", "away", "silent")}
    posts = {
        name: [await site.post(person) for _ in range(3)]
        for name, person in people.items()
        if name != "silent"
    }
    await people["private"].call("PATCH", "/accounts/me", json={"is_private": True})
    await people["unlisted"].call("PATCH", "/accounts/me", json={"is_unlisted": True})
    await set_status(site.rooms, account_id(people["away"]), "suspended")

    found = await _read_all(site)

    public = [f"{SITE}{path}" for name in ("ana", "bo") for path in posts[name]]
    assert sorted(found) == sorted([*public, f"{SITE}/@ana", f"{SITE}/@bo"])


async def test_what_becomes_private_leaves_pages_that_are_listed_already(site: Site) -> None:
    ana = await site.join("ana")
    path = await site.post(ana)
    assert SITE + path in await _read_all(site)

    await ana.call("PATCH", "/accounts/me", json={"is_unlisted": True})

    assert await _read_all(site) == []


async def test_where_pages_begin_is_asked_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    sitemaps = Sitemaps(site.rooms.shards)
    await sitemaps.list_pages()
    asked: list[Any] = []
    monkeypatch.setattr(site.rooms.shards, "everywhere", lambda: asked.append(1))

    await sitemaps.list_pages()

    assert asked == []


@pytest.mark.parametrize("name", ["posts-0-9.xml", "posts-99999-0.xml", "people-0-0.xml", "posts-0-0", "x"])
async def test_a_page_that_is_not_there_is_not_found(site: Site, name: str) -> None:
    assert (await site.get(f"/sitemaps/{name}")).status_code == 404


async def test_robots_are_told_where_the_sitemap_is(site: Site) -> None:
    answer = await site.get("/robots.txt")

    assert answer.headers["content-type"].startswith("text/plain")
    assert f"\nSitemap: {SITE}/sitemap.xml\n" in answer.text
    assert "\nDisallow: /api/\n" in answer.text


@pytest.mark.parametrize("choices", [{"search_engines": "none"}])
async def test_a_site_that_wants_no_search_engine_says_so_on_every_page(site: Site) -> None:
    ana = await site.join("ana")
    path = await site.post(ana)

    assert (await site.get(path)).headers["x-robots-tag"] == "noindex"
    assert (await site.get("/sitemap.xml")).status_code == 404
    assert "Sitemap" not in (await site.get("/robots.txt")).text
