"""The home feed for the plainest requests, before the framework has looked at them.

Most reads of the feed are alike: a session that is known here, nothing due, nothing odd in the address. For those the
framework's work is a third of the whole. Whatever is out of the ordinary is left to the route in `feed.py`, which
decides and explains; so nothing is refused here, and a test compares both.

The session is taken from what is near. Reading the timeline asks Redis, so a session that ended before this request
came in is known to have ended by the time the page is ready: it is looked at again then.
"""

import re
from collections.abc import Iterable
from http import HTTPStatus
from urllib.parse import parse_qsl

import msgspec
from litestar.types import Scope, Send

from tintype.accounts import Account, hash_token, is_due
from tintype.api import scopes
from tintype.api.etags import matches
from tintype.api.feed import send_page
from tintype.api.session import SESSION_COOKIE
from tintype.api.splicing import Splicer
from tintype.base.log import get_log
from tintype.feed import LONGEST_CURSOR, MODES, FeedPage, Mode
from tintype.wiring import Rooms

log = get_log("http")
PATH = "/api/v1/feed"
LARGEST_LIMIT = 50
LIMIT = re.compile(r"[1-9][0-9]?", re.ASCII)
MOST_FIELDS = 3
TRIES = 2
"""What the cache lacks is loaded at the first try and near after the second."""
COOKIE, BEARER = SESSION_COOKIE.encode() + b"=", b"Bearer "


class Wanted(msgspec.Struct, frozen=True):
    """Which page is asked for."""

    mode: Mode = "ranked"
    cursor: str | None = None
    limit: int = 20


FIRST = Wanted()


class Sent(msgspec.Struct, frozen=True):
    """What came with a request."""

    token: str
    token_hash: str
    is_cookie: bool
    known: str
    """The ETags of what the asker has already."""


class SwiftFeed:
    """Answers what is plain."""

    def __init__(self, rooms: Rooms, pages: Splicer) -> None:
        self._rooms, self._accounts, self._pages = rooms, rooms.accounts, pages
        self._near = rooms.cache.wire.near

    async def answer(self, scope: Scope, send: Send) -> bool:
        """Answer the request, or say that it is not plain: then nothing was sent."""
        wanted = _wanted(scope["query_string"]) if self._near.is_live else None
        sent = _sent(scope["headers"]) if wanted else None
        if wanted is None or sent is None:
            return False
        try:
            found = await self._read(sent, wanted)
        except Exception as error:  # noqa: BLE001 - the route meets it again, and knows what to say of it
            log.info("feed.not_plain", error=repr(error))
            return False
        if found is None:
            return False
        scope["path_template"] = PATH
        await self._send(send, *found, sent.known)
        return True

    async def _read(self, sent: Sent, wanted: Wanted) -> tuple[FeedPage, Account] | None:
        holder = await self._holder(sent)
        if holder is None:
            return None
        page = await self._rooms.feed.read(
            holder.id, mode=wanted.mode, cursor=wanted.cursor, limit=wanted.limit
        )
        again = await self._holder(sent)
        return (page, again) if again is not None and again.id == holder.id else None

    async def _send(self, send: Send, page: FeedPage, viewer: Account, known: str) -> None:
        body, etag = self._pages.splice(
            page.entries, self._rooms.shards.map.layout, viewer=viewer.id, next_cursor=page.next_cursor
        )
        if known and matches(known, etag):
            await send_page(send, HTTPStatus.NOT_MODIFIED, etag.encode(), b"")
        else:
            await send_page(send, HTTPStatus.OK, etag.encode(), body)

    async def _holder(self, sent: Sent) -> Account | None:
        """Whom the token speaks for, if it may read and is not due to be exchanged."""
        found = self._accounts.find_near(sent.token_hash)
        for _ in range(TRIES):
            if found is None:
                await self._accounts.bring_near(sent.token)
                found = self._accounts.find_near(sent.token_hash)
        if found is None:
            return None
        held, account = found
        is_allowed = held.scopes is None or scopes.READ in held.scopes
        return account if is_allowed and not (sent.is_cookie and is_due(held)) else None


def _wanted(query: bytes) -> Wanted | None:
    """The page that is asked for; None where anything about it is unusual."""
    if not query:
        return FIRST
    try:
        pairs = parse_qsl(
            query.decode("ascii"), keep_blank_values=True, strict_parsing=True, max_num_fields=MOST_FIELDS
        )
    except ValueError:
        return None
    said = dict(pairs)
    is_plain = len(said) == len(pairs)
    limit, mode, cursor = said.pop("limit", "20"), said.pop("mode", "ranked"), said.pop("cursor", "")
    is_plain = is_plain and not said and len(cursor) <= LONGEST_CURSOR
    if not is_plain or mode not in MODES or not LIMIT.fullmatch(limit) or int(limit) > LARGEST_LIMIT:
        return None
    return Wanted(mode, cursor or None, int(limit))


def _sent(headers: Iterable[tuple[bytes, bytes]]) -> Sent | None:
    """The credential and the ETags of a request; None where it has no credential, or an unusual one."""
    bearer, cookie, known = b"", b"", b""
    for name, value in headers:
        if name == b"authorization":
            bearer = value
        elif name == b"cookie":
            cookie = value
        elif name == b"if-none-match":
            known = value
    token = bearer[len(BEARER) :] if bearer[: len(BEARER)] == BEARER else b""
    if not bearer:
        crumbs = [each for each in cookie.split(b"; ") if each.startswith(COOKIE)]
        token = crumbs[0][len(COOKIE) :] if len(crumbs) == 1 else b""
    if not token:
        return None
    text = token.decode("latin-1")
    return Sent(text, hash_token(text).hex(), not bearer, known.decode("latin-1"))
