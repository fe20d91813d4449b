"""Who is asking: a session cookie with CSRF protection for browsers, a bearer token for programs."""

import hashlib
import hmac
from typing import Any

from litestar import Request
from litestar.datastructures import Cookie

from tintype.accounts import Account, SignedIn
from tintype.base.errors import Forbidden, NotSignedIn
from tintype.base.secret import secret_key
from tintype.wiring import Rooms

SESSION_COOKIE, CSRF_COOKIE, CSRF_HEADER = "tt_session", "tt_csrf", "x-csrf-token"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
COOKIE_AGE_S = 90 * 86_400


class CsrfTokenWrong(Forbidden):
    """Send the value of the cookie tt_csrf in the header X-CSRF-Token."""

    code = "csrf_token_wrong"


class Sessions:
    """Reads and writes the credentials of requests."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._key = secret_key(rooms.settings)
        self._is_secure = rooms.settings.public_url.startswith("https:")

    async def viewer(self, request: Request[Any, Any, Any]) -> Account:
        """The account that asks, or a refusal."""
        token = bearer_token(request) or self._cookie_token(request)
        account = await self._rooms.accounts.find_session(token) if token else None
        if account is None:
            raise NotSignedIn
        return account

    def token(self, request: Request[Any, Any, Any]) -> str:
        """The credential of this request; empty when it has none."""
        return bearer_token(request) or self._cookie_token(request)

    def cookies(self, signed_in: SignedIn) -> list[Cookie]:
        """What a browser keeps: the session, which scripts cannot read, and the CSRF token, which they must."""
        return [
            self._cookie(SESSION_COOKIE, signed_in.token, is_hidden=True),
            self._cookie(CSRF_COOKIE, self.csrf_token(signed_in.token), is_hidden=False),
        ]

    def no_cookies(self) -> list[Cookie]:
        """Makes a browser forget both."""
        return [Cookie(key=key, value="", max_age=0, path="/") for key in (SESSION_COOKIE, CSRF_COOKIE)]

    def csrf_token(self, token: str) -> str:
        """Bound to the session: another site can neither read nor make it."""
        return hmac.new(self._key, b"csrf:" + token.encode(), hashlib.sha256).hexdigest()

    def _cookie_token(self, request: Request[Any, Any, Any]) -> str:
        token = request.cookies.get(SESSION_COOKIE, "")
        if token and request.method not in SAFE_METHODS:
            sent = request.headers.get(CSRF_HEADER, "")
            if not hmac.compare_digest(sent.encode(), self.csrf_token(token).encode()):
                raise CsrfTokenWrong
        return token

    def _cookie(self, key: str, value: str, *, is_hidden: bool) -> Cookie:
        return Cookie(
            key=key,
            value=value,
            max_age=COOKIE_AGE_S,
            path="/",
            httponly=is_hidden,
            secure=self._is_secure,
            samesite="lax",
        )


def bearer_token(request: Request[Any, Any, Any]) -> str:
    """The token of an `Authorization: Bearer …` header; empty when there is none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
