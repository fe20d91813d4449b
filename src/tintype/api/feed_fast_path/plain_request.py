"""Recognises plain reads of the feed: a known query, one ordinary credential. Anything unusual is left to the route."""

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl

import msgspec

from tintype.accounts import hash_token
from tintype.api.http.authentication import SESSION_COOKIE
from tintype.feed import MAX_CURSOR_LENGTH, MODES, Mode

MAX_LIMIT = 50
LIMIT = re.compile(r"[1-9][0-9]?", re.ASCII)
MAX_PARAMETERS = 3
COOKIE, BEARER = SESSION_COOKIE.encode() + b"=", b"Bearer "


class FeedQuery(msgspec.Struct, frozen=True):
    """Which page of the feed a request is for."""

    mode: Mode = "ranked"
    cursor: str | None = None
    limit: int = 20


FIRST_PAGE = FeedQuery()


class RequestCredentials(msgspec.Struct, frozen=True):
    """The token of a request, and the ETags that its sender has cached."""

    token: str
    token_hash: str
    is_cookie: bool
    if_none_match: str


def parse_query(query: bytes) -> FeedQuery | None:
    """The page that a query string is for; None if anything about it is unusual."""
    if not query:
        return FIRST_PAGE
    try:
        pairs = parse_qsl(
            query.decode("ascii"), keep_blank_values=True, strict_parsing=True, max_num_fields=MAX_PARAMETERS
        )
    except ValueError:
        return None
    values = dict(pairs)
    is_plain = len(values) == len(pairs)
    limit, mode, cursor = values.pop("limit", "20"), values.pop("mode", "ranked"), values.pop("cursor", "")
    is_plain = is_plain and not values and len(cursor) <= MAX_CURSOR_LENGTH
    if not is_plain or mode not in MODES or not LIMIT.fullmatch(limit) or int(limit) > MAX_LIMIT:
        return None
    return FeedQuery(mode, cursor or None, int(limit))


def parse_credentials(headers: Iterable[tuple[bytes, bytes]]) -> RequestCredentials | None:
    """The credentials and ETags of a request; None if it has no credential, or an unusual one."""
    bearer, cookie, if_none_match = b"", b"", b""
    for name, value in headers:
        if name == b"authorization":
            bearer = value
        elif name == b"cookie":
            cookie = value
        elif name == b"if-none-match":
            if_none_match = value
    token = bearer[len(BEARER) :] if bearer[: len(BEARER)] == BEARER else b""
    if not bearer:
        cookies = [each for each in cookie.split(b"; ") if each.startswith(COOKIE)]
        token = cookies[0][len(COOKIE) :] if len(cookies) == 1 else b""
    if not token:
        return None
    text = token.decode("latin-1")
    return RequestCredentials(text, hash_token(text).hex(), not bearer, if_none_match.decode("latin-1"))
