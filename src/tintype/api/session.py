"""Who is asking: a session cookie with CSRF protection for browsers, a bearer token for programs.

A token made for a program does only what its scopes name, on routes that name a scope; everything else is denied.
"""

import hashlib
import hmac
from typing import Any

from litestar import Request
from litestar.datastructures import Cookie, MutableScopeHeaders
from litestar.types import Message, Scope

from tintype.accounts import (
    Account,
    Caller,
    Pass,
    ProofNeeded,
    ScopeMissing,
    SignedIn,
    is_due,
    is_proved,
)
from tintype.api.callers import DEVICE_COOKIE, caller_of
from tintype.base.errors import Forbidden, NotSignedIn
from tintype.base.secret import secret_key
from tintype.wiring import Rooms

SESSION_COOKIE, CSRF_COOKIE, CSRF_HEADER = "tt_session", "tt_csrf", "x-csrf-token"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
COOKIE_AGE_S = 90 * 86_400
DEVICE_AGE_S = 400 * 86_400
FRESH_COOKIES, RECOGNISED = "tintype_fresh_cookies", "tintype_recognised"
ASKED = "tintype_asked"
ASKING = frozenset({"viewer", "current", "proven"})


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
        return (await self.recognise(request))[1]

    async def proven(self, request: Request[Any, Any, Any]) -> Pass:
        """The session that asks, whose holder proved within the last minutes who they are."""
        held, _ = await self.recognise(request)
        if not is_proved(held):
            raise ProofNeeded
        return held

    async def recognise(self, request: Request[Any, Any, Any]) -> tuple[Pass, Account]:
        """The session and the account that ask; refused when there is none, or when it may not do this."""
        known: tuple[Pass, Account] | None = request.scope["state"].get(RECOGNISED)
        if known is None:
            known = request.scope["state"][RECOGNISED] = await self._recognise(request)
        return known

    async def _recognise(self, request: Request[Any, Any, Any]) -> tuple[Pass, Account]:
        token = self.token(request)
        found = await self._rooms.accounts.find_holder(token) if token else None
        if found is None:
            raise NotSignedIn
        held, account = found
        _check_scope(request, held)
        if is_due(held) and request.method == "GET" and not bearer_token(request):
            await self._renew(request, token)
        return held, account

    def token(self, request: Request[Any, Any, Any]) -> str:
        """The credential of this request; empty when it has none."""
        return bearer_token(request) or self._cookie_token(request)

    def caller(self, request: Request[Any, Any, Any]) -> Caller:
        """Where this request came from."""
        return caller_of(request, self._rooms.settings.trusted_proxies)

    def cookies(self, signed_in: SignedIn) -> list[Cookie]:
        """What a browser keeps: the session, which scripts cannot read, and the CSRF token, which they must.

        And a mark that somebody signed in here before: see `accounts/devices.py`.
        """
        mark = self._rooms.accounts.devices.mark(signed_in.account.id)
        return [
            *self._session_cookies(signed_in.token),
            self._cookie(DEVICE_COOKIE, mark, is_hidden=True, age_s=DEVICE_AGE_S),
        ]

    def drop_cookies(self, request: Request[Any, Any, Any]) -> None:
        """The answer to this request makes a browser forget the session."""
        request.scope["state"][FRESH_COOKIES] = [
            Cookie(key=key, value="", max_age=0, path="/") for key in (SESSION_COOKIE, CSRF_COOKIE)
        ]

    def csrf_token(self, token: str) -> str:
        """Bound to the session: another site can neither read nor make it."""
        return hmac.new(self._key, b"csrf:" + token.encode(), hashlib.sha256).hexdigest()

    async def _renew(self, request: Request[Any, Any, Any], token: str) -> None:
        """Exchange an old cookie at its next use: one that leaked from a backup or a log does not stay useful."""
        fresh = await self._rooms.accounts.sessions.renew(token)
        if fresh:
            request.scope["state"][FRESH_COOKIES] = self._session_cookies(fresh)

    def _session_cookies(self, token: str) -> list[Cookie]:
        return [
            self._cookie(SESSION_COOKIE, token, is_hidden=True),
            self._cookie(CSRF_COOKIE, self.csrf_token(token), is_hidden=False),
        ]

    def _cookie_token(self, request: Request[Any, Any, Any]) -> str:
        token = request.cookies.get(SESSION_COOKIE, "")
        if token and request.method not in SAFE_METHODS:
            sent = request.headers.get(CSRF_HEADER, "")
            if not hmac.compare_digest(sent.encode(), self.csrf_token(token).encode()):
                raise CsrfTokenWrong
        return token

    def _cookie(self, key: str, value: str, *, is_hidden: bool, age_s: int = COOKIE_AGE_S) -> Cookie:
        return Cookie(
            key=key,
            value=value,
            max_age=age_s,
            path="/",
            httponly=is_hidden,
            secure=self._is_secure,
            samesite="lax",
        )


def bearer_token(request: Request[Any, Any, Any]) -> str:
    """The token of an `Authorization: Bearer …` header; empty when there is none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


async def check_credentials(request: Request[Any, Any, Any]) -> None:
    """Refuse strangers before their body is read: what is wrong with it is none of their business.

    Not a guard: the framework copies a whole route for every guard of every request.
    """
    handler = request.route_handler
    wanted: frozenset[str] | None = handler.opt.get(ASKED)
    if wanted is None:
        wanted = handler.opt[ASKED] = ASKING & handler.parsed_fn_signature.parameters.keys()
    if wanted:
        sessions: Sessions = request.app.state.sessions
        await (sessions.proven(request) if "proven" in wanted else sessions.recognise(request))


async def send_fresh_cookies(message: Message, scope: Scope) -> None:
    """Add the cookies of a session that was renewed during this request."""
    fresh: list[Cookie] = scope.get("state", {}).get(FRESH_COOKIES, [])
    if message["type"] == "http.response.start" and fresh:
        headers = MutableScopeHeaders.from_message(message)
        for cookie in fresh:
            headers.add("Set-Cookie", cookie.to_header(header=""))


def _check_scope(request: Request[Any, Any, Any], held: Pass) -> None:
    if held.scopes is None:
        return
    wanted = request.route_handler.opt.get("scope")
    if wanted is None or wanted not in held.scopes:
        raise ScopeMissing(scope=str(wanted))
