"""Answers plain reads of the feed before the framework has seen them.

Most reads of the feed are alike: a session that the client-side cache has, nothing to renew, nothing unusual in the
query. For those the framework's work is a third of the whole. Everything else is left to the route in `routes/feed.py`;
nothing is refused here, and a test compares the answers of both.

The session is read from the client-side cache. Reading the timeline awaits Redis, so by the time the page is ready the
cache knows of a session that ended before this request arrived: the session is checked again then.
"""

from http import HTTPStatus

from litestar.types import Scope, Send

from tintype.accounts import Account, needs_renewal
from tintype.api.feed_fast_path.page_renderer import FeedPageRenderer
from tintype.api.feed_fast_path.plain_request import FeedQuery, parse_query
from tintype.api.feed_fast_path.response import send_page
from tintype.api.http import scopes
from tintype.api.http.etags import etag_matches
from tintype.api.http.plain_credentials import RequestCredentials, parse_credentials
from tintype.api.http.request_limits import RequestLimits
from tintype.base.log import get_log
from tintype.feed import FeedPage
from tintype.wiring import Rooms

log = get_log("http")
PATH = "/api/v1/feed"
CACHE_LOADS = 2
"""The first load may find that Redis has no session card either, and write it; the second then caches it."""


class FeedFastPath:
    """Answers plain reads of the feed."""

    def __init__(self, rooms: Rooms, pages: FeedPageRenderer, limits: RequestLimits) -> None:
        self._limits = limits
        self._rooms, self._authentication, self._pages = rooms, rooms.authentication, pages
        self._client_cache = rooms.cache.redis_client.client_cache

    async def try_answer(self, scope: Scope, send: Send) -> bool:
        """Answer the request if it is plain; False if it is not, and nothing was sent."""
        query = parse_query(scope["query_string"]) if self._client_cache.is_tracking else None
        credentials = parse_credentials(scope["headers"]) if query else None
        if query is None or credentials is None:
            return False
        try:
            found = await self._read(scope, credentials, query)
        except Exception as error:  # noqa: BLE001 - the route runs into it again and answers properly
            log.info("feed_fast_path.failed", error=repr(error))
            return False
        if found is None:
            return False
        scope["path_template"] = PATH
        await self._send(send, *found, credentials.if_none_match)
        return True

    async def _read(
        self, scope: Scope, credentials: RequestCredentials, query: FeedQuery
    ) -> tuple[FeedPage, Account] | None:
        viewer = await self._authenticate(credentials)
        if viewer is None or not self._limits.admits_read(scope, viewer.id):
            return None
        page = await self._rooms.feed.read(viewer.id, mode=query.mode, cursor=query.cursor, limit=query.limit)
        still = await self._authenticate(credentials)
        return (page, still) if still is not None and still.id == viewer.id else None

    async def _send(self, send: Send, page: FeedPage, viewer: Account, if_none_match: str) -> None:
        body, etag = self._pages.render(
            page.entries, self._rooms.shards.map.layout, viewer=viewer.id, next_cursor=page.next_cursor
        )
        if if_none_match and etag_matches(if_none_match, etag):
            await send_page(send, HTTPStatus.NOT_MODIFIED, etag.encode(), b"")
        else:
            await send_page(send, HTTPStatus.OK, etag.encode(), body)

    async def _authenticate(self, credentials: RequestCredentials) -> Account | None:
        """The account of the token, if it may read and no cookie has to be renewed."""
        found = self._authentication.authenticate_cached(credentials.token_hash)
        for _ in range(CACHE_LOADS):
            if found is None:
                await self._authentication.load_client_cache(credentials.token)
                found = self._authentication.authenticate_cached(credentials.token_hash)
        if found is None:
            return None
        session, account = found
        may_read = session.scopes is None or scopes.READ in session.scopes
        return account if may_read and not (credentials.is_cookie and needs_renewal(session)) else None
