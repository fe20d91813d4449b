"""`robots.txt` and the sitemap: what crawlers are told of this site."""

import re
from collections.abc import AsyncIterator
from typing import cast
from xml.sax.saxutils import escape

from litestar import Response, get
from litestar.params import FromPath
from litestar.response import Stream

from tintype.api.http.dependencies import InjectedRooms
from tintype.base.settings import site_url
from tintype.previews import SITEMAP_KINDS, PreviewNotFound, SitemapEntry, SitemapKind, SitemapPage
from tintype.wiring import Rooms

CACHED = {"Cache-Control": "public, max-age=3600"}
XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
NAME = re.compile(rf"({'|'.join(SITEMAP_KINDS)})-([0-9]{{1,5}})-([0-9]{{1,5}})\.xml")
NOT_FOR_CRAWLERS = (
    *(
        "/api/",
        "/settings",
        "/search",
        "/explore",
        "/activity",
        "/messages",
        "/saved",
        "/archive",
        "/scheduled",
    ),
    *(
        "/create",
        "/requests",
        "/suggestions",
        "/moderation",
        "/decisions",
        "/stories/",
        "/highlights/",
        "/login",
        "/join",
    ),
)


@get("/robots.txt", include_in_schema=False, sync_to_thread=False)
def robots_txt(rooms: InjectedRooms) -> Response[str]:
    """What crawlers may visit. What they may list is said by each page, so that link previews work in any case."""
    settings = rooms.settings
    if not settings.guests_may_read:
        return Response("User-agent: *\nDisallow: /\n", media_type="text/plain", headers=CACHED)
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in NOT_FOR_CRAWLERS)]
    if _has_sitemap(rooms):
        lines += ["", f"Sitemap: {site_url(settings)}/sitemap.xml"]
    return Response("\n".join([*lines, ""]), media_type="text/plain", headers=CACHED)


@get("/sitemap.xml", include_in_schema=False)
async def sitemap_index(rooms: InjectedRooms) -> Response[str]:
    """The index of the sitemap's pages, where the settings offer one."""
    if not _has_sitemap(rooms):
        raise PreviewNotFound
    site = site_url(rooms.settings)
    pages = await rooms.previews.sitemaps.list_pages()
    listed = "".join(f"<sitemap><loc>{escape(site)}{_path_of(page)}</loc></sitemap>\n" for page in pages)
    content = f'{XML}<sitemapindex xmlns="{NAMESPACE}">\n{listed}</sitemapindex>\n'
    return Response(content, media_type="application/xml", headers=CACHED)


@get("/sitemaps/{name:str}", include_in_schema=False)
async def sitemap_page(name: FromPath[str], rooms: InjectedRooms) -> Stream:
    """One page of the sitemap, streamed as it is read."""
    named = NAME.fullmatch(name)
    if named is None or not _has_sitemap(rooms):
        raise PreviewNotFound
    page = SitemapPage(cast("SitemapKind", named[1]), int(named[2]), int(named[3]))
    entries = await rooms.previews.sitemaps.read(page)
    return Stream(_write(entries, site_url(rooms.settings)), media_type="application/xml", headers=CACHED)


def _has_sitemap(rooms: Rooms) -> bool:
    return rooms.settings.guests_may_read and rooms.settings.search_engines == "sitemap"


def _path_of(page: SitemapPage) -> str:
    return f"/sitemaps/{page.kind}-{page.shard}-{page.number}.xml"


async def _write(parts: AsyncIterator[list[SitemapEntry]], site: str) -> AsyncIterator[str]:
    yield f'{XML}<urlset xmlns="{NAMESPACE}">\n'
    async for entries in parts:
        yield "".join(_write_entry(each, site) for each in entries)
    yield "</urlset>\n"


def _write_entry(entry: SitemapEntry, site: str) -> str:
    changed = entry.changed_at
    when = f"<lastmod>{changed:%Y-%m-%dT%H:%M:%S}Z</lastmod>" if changed else ""
    return f"<url><loc>{escape(site + entry.path)}</loc>{when}</url>\n"
