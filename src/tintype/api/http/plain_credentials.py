"""Recognises the one ordinary credential of a request without parsing all its headers and cookies.

For the paths before the framework (`feed_fast_path`, `lean_routes`): whatever is unusual is left to the framework.
"""

from collections.abc import Iterable

import msgspec

from tintype.accounts import hash_token
from tintype.api.http.authentication import SESSION_COOKIE

COOKIE, BEARER = SESSION_COOKIE.encode() + b"=", b"Bearer "


class RequestCredentials(msgspec.Struct, frozen=True):
    """The token of a request, and the ETags that its sender has cached."""

    token: str
    token_hash: str
    is_cookie: bool
    if_none_match: str


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
    token = plain_token(bearer, cookie)
    if not token:
        return None
    return RequestCredentials(token, hash_token(token).hex(), not bearer, if_none_match.decode("latin-1"))


def plain_token(bearer: bytes, cookie: bytes) -> str:
    """The token in the header Authorization, or without that header in the session cookie; empty if unusual."""
    token = bearer[len(BEARER) :] if bearer[: len(BEARER)] == BEARER else b""
    if not bearer:
        cookies = [each for each in cookie.split(b"; ") if each.startswith(COOKIE)]
        token = cookies[0][len(COOKIE) :] if len(cookies) == 1 else b""
    return token.decode("latin-1")
