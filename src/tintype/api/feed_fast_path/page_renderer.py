"""Renders pages of the feed from JSON fragments, and caches each viewer's last page with its ETag.

Entries that are the very objects of the last page, as most are where something is new, are copied from its body.
"""

from collections.abc import Mapping, Sequence

import msgspec

from shardwright.ids import Layout
from tintype.api.feed_fast_path.fragments import PostFragment
from tintype.api.http.etags import make_etag
from tintype.api.views.context import ViewContext
from tintype.base.bounded_map import BoundedMap
from tintype.base.ids import AccountId, PostId
from tintype.feed import FeedEntry
from tintype.media import MediaUrls

MAX_FRAGMENTS = 20_000
MAX_PAGES = 1_000
"""Of some 25 KB each."""
HEAD = b'{"posts":['


class RenderedEntry(msgspec.Struct, frozen=True):
    """Where the JSON of an entry stands in a page's body, with the comma behind it, and what the ETag is made of."""

    entry: FeedEntry
    start: int
    end: int
    digest: bytes


class RenderedPage(msgspec.Struct, frozen=True):
    """The last page of a viewer, and what it was rendered from."""

    entries: Sequence[FeedEntry]
    cursor: str | None
    signature_expiry: int
    body: bytes
    etag: str
    rendered: Mapping[PostId, RenderedEntry]
    """Its entries, but the last, which has no comma behind it."""

    def find(self, entry: FeedEntry) -> tuple[bytes, bytes] | None:
        """The JSON of this very entry and what its ETag is made of, if it is on this page."""
        found = self.rendered.get(entry.cached_post.id)
        if found is None or found.entry is not entry:
            return None
        return self.body[found.start : found.end], found.digest


class FeedPageRenderer:
    """Renders pages of the feed; one per process."""

    def __init__(self, urls: MediaUrls) -> None:
        self._urls = urls
        self._fragments = BoundedMap[PostId, PostFragment](MAX_FRAGMENTS)
        self._pages = BoundedMap[AccountId, RenderedPage](MAX_PAGES)

    def render(
        self, entries: Sequence[FeedEntry], layout: Layout, *, viewer: AccountId, next_cursor: str | None
    ) -> tuple[bytes, str]:
        """The page's JSON and its ETag; the last page of a viewer is reused while its entries are the same object."""
        expiry = self._urls.signature_expiry()
        last = self._pages.get(viewer)
        if last is not None and last.signature_expiry != expiry:
            last = None  # other signed URLs
        if last is None or last.entries is not entries or last.cursor != next_cursor:
            last = self._pages[viewer] = self._render(
                entries, ViewContext(layout, self._urls), expiry, last, viewer=viewer, next_cursor=next_cursor
            )
        return last.body, last.etag

    def _render(
        self,
        entries: Sequence[FeedEntry],
        context: ViewContext,
        expiry: int,
        last: RenderedPage | None,
        *,
        viewer: AccountId,
        next_cursor: str | None,
    ) -> RenderedPage:
        cursor = msgspec.json.encode(next_cursor)
        parts, digests, rendered = [HEAD], [cursor], dict[PostId, RenderedEntry]()
        start = len(HEAD)
        for entry in entries:
            filled = last.find(entry) if last is not None else None
            body, digest = filled or self._fragment(entry, context, expiry).fill(entry, viewer)
            rendered[entry.cached_post.id] = RenderedEntry(entry, start, start + len(body), digest)
            start += len(body)
            parts.append(body)
            digests.append(digest)
        if entries:
            parts[-1] = parts[-1][:-1]
            del rendered[entries[-1].cached_post.id]
        parts.append(b'],"next_cursor":%b,"has_more":%b}' % (cursor, b"true" if next_cursor else b"false"))
        etag = make_etag(b" ".join(digests))
        return RenderedPage(entries, next_cursor, expiry, b"".join(parts), etag, rendered)

    def _fragment(self, entry: FeedEntry, context: ViewContext, expiry: int) -> PostFragment:
        fragment = self._fragments.get(entry.id)
        if fragment is None or not fragment.is_current(entry, expiry):
            fragment = self._fragments[entry.id] = PostFragment.render(entry, context, expiry)
        return fragment
