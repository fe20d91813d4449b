"""Renders pages of the feed from JSON fragments, and caches each viewer's last page with its ETag."""

from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(slots=True, frozen=True)
class RenderedPage:
    """The last page of a viewer, and what it was rendered from."""

    entries: Sequence[FeedEntry]
    cursor: str | None
    signature_expiry: int
    body: bytes
    etag: str


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
        page = self._pages.get(viewer)
        if (
            page is None
            or page.entries is not entries
            or page.signature_expiry != expiry
            or page.cursor != next_cursor
        ):
            body, etag = self._render(entries, layout, expiry, viewer=viewer, next_cursor=next_cursor)
            page = self._pages[viewer] = RenderedPage(entries, next_cursor, expiry, body, etag)
        return page.body, page.etag

    def _render(
        self,
        entries: Sequence[FeedEntry],
        layout: Layout,
        expiry: int,
        *,
        viewer: AccountId,
        next_cursor: str | None,
    ) -> tuple[bytes, str]:
        cursor, context = msgspec.json.encode(next_cursor), ViewContext(layout, self._urls)
        parts, digests = [b'{"posts":['], [cursor]
        for entry in entries:
            body, digest = self._fragment(entry, context, expiry).fill(entry, viewer)
            parts.append(body)
            digests.append(digest)
        if entries:
            parts[-1] = parts[-1][:-1]  # the last has no comma behind it
        parts.append(b'],"next_cursor":%b,"has_more":%b}' % (cursor, b"true" if next_cursor else b"false"))
        return b"".join(parts), make_etag(b" ".join(digests))

    def _fragment(self, entry: FeedEntry, context: ViewContext, expiry: int) -> PostFragment:
        fragment = self._fragments.get(entry.id)
        if fragment is None or not fragment.is_current(entry, expiry):
            fragment = self._fragments[entry.id] = PostFragment.render(entry, context, expiry)
        return fragment
