"""Sitemaps: the links to every public post and profile, page by page (sitemaps.org).

A page is a range of one shard's ids, so that it is read from one shard, a few hundred rows at a time. Where the pages
begin is found by numbering the ids of all shards; a process keeps that for an hour. What is public is decided when a
page is read.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Literal

import msgspec

from shardwright.routing import Shards
from tintype.base.ids import LARGEST_ID, PostId
from tintype.previews.errors import PreviewNotFound
from tintype.previews.links import PostLink, ProfileLink
from tintype.previews.store import QUERIES

SitemapKind = Literal["posts", "profiles"]
SITEMAP_KINDS: tuple[SitemapKind, ...] = ("posts", "profiles")
URLS_PER_PAGE, MAX_URLS, MAX_SITEMAPS = 10_000, 50_000, 50_000
"""The protocol allows 50,000 of each; the last page of a shard grows until its pages are numbered again."""
ROWS_PER_READ = 500
KEPT_S = 3_600.0
STARTS = {"posts": QUERIES.list_page_starts, "profiles": QUERIES.list_account_page_starts}
PAGES = {"posts": QUERIES.page_public_posts, "profiles": QUERIES.page_public_accounts}
PageStarts = Mapping[int, Sequence[int]]
"""By shard, the ids that its pages begin with."""


class SitemapPage(msgspec.Struct, frozen=True):
    """One page: the so manieth of a shard."""

    kind: SitemapKind
    shard: int
    number: int


class SitemapEntry(msgspec.Struct, frozen=True):
    """A link, and when what it points to last changed, where that is known."""

    path: str
    changed_at: datetime | None


class Sitemaps:
    """Lists the pages of the sitemap, and the links of each."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self._lock = asyncio.Lock()
        self._starts: dict[SitemapKind, tuple[float, PageStarts]] = {}

    async def list_pages(self) -> list[SitemapPage]:
        """Every page there is, as many as one index may list."""
        pages: list[SitemapPage] = []
        for kind in SITEMAP_KINDS:
            for shard, starts in (await self._find_starts(kind)).items():
                pages += [SitemapPage(kind, shard, number) for number in range(len(starts))]
        return pages[:MAX_SITEMAPS]

    async def read(self, page: SitemapPage) -> AsyncIterator[list[SitemapEntry]]:
        """The links of a page, a few hundred at a time; `PreviewNotFound` where there is no such page."""
        starts = (await self._find_starts(page.kind)).get(page.shard, ())
        if not 0 <= page.number < len(starts):
            raise PreviewNotFound
        first = starts[page.number] if page.number else 0
        before = starts[page.number + 1] if page.number + 1 < len(starts) else LARGEST_ID
        return self._read_range(page, first, before)

    async def _read_range(
        self, page: SitemapPage, first: int, before: int
    ) -> AsyncIterator[list[SitemapEntry]]:
        for _ in range(MAX_URLS // ROWS_PER_READ):
            rows = await self._shards.shard(page.shard).fetch(
                PAGES[page.kind], first=first, before=before, limit=ROWS_PER_READ
            )
            if page.kind == "posts":
                yield [SitemapEntry(PostLink(PostId(row["id"])).path, row["changed_at"]) for row in rows]
            else:
                yield [SitemapEntry(ProfileLink(row["username"]).path, None) for row in rows]
            if len(rows) < ROWS_PER_READ:
                return
            first = rows[-1]["id"] + 1

    async def _find_starts(self, kind: SitemapKind) -> PageStarts:
        async with self._lock:  # one request numbers the pages, the others wait for it
            kept = self._starts.get(kind)
            if kept is not None and time.monotonic() < kept[0]:
                return kept[1]
            rows = (await self._shards.everywhere().fetch(STARTS[kind], size=URLS_PER_PAGE)).complete()
            found: defaultdict[int, list[int]] = defaultdict(list)
            for row in rows:
                found[self._shards.shard_of(row["id"])].append(row["id"])
            starts = {shard: sorted(ids) for shard, ids in sorted(found.items())}
            self._starts[kind] = (time.monotonic() + KEPT_S, starts)
            return starts
