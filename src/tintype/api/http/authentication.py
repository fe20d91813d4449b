"""Authentication of requests: a session cookie with CSRF protection for browsers, a bearer token for programs.

An API token may only call routes whose scope it has; every other route refuses it. A suspended account may only call
routes that are open to it: those for appeals, exports and signing out.
"""

import hashlib
import hmac
from typing import Any

from litestar import Request
from litestar.datastructures import Cookie, MutableScopeHeaders
from litestar.types import Message, Scope

from tintype.accounts import (
    Account,
    AccountSuspended,
    AuthenticatedSession,
    Caller,
    ScopeMissing,
    SignedIn,
    needs_renewal,
)
from tintype.api.http import scopes
from tintype.api.http.client_info import DEVICE_COOKIE, client_of
from tintype.api.http.cross_site import SAFE_METHODS, check_media_type, check_site
from tintype.api.http.request_limits import ADDRESS_COUNTED, RequestLimits
from tintype.base.errors import Forbidden, NotSignedIn
from tintype.base.ids import AccountId
from tintype.base.secret_key import secret_key
from tintype.wiring import Rooms

SESSION_COOKIE, CSRF_COOKIE, CSRF_HEADER = "tt_session", "tt_csrf", "x-csrf-token"
OPEN_TO_SUSPENDED = "open_to_suspended"
"""The option of routes that suspended people may call."""
COOKIE_AGE_S = 90 * 86_400
DEVICE_AGE_S = 400 * 86_400
RENEWED_COOKIES, AUTHENTICATED = "tintype_renewed_cookies", "tintype_authenticated"
REQUIRED, PROVEN = "tintype_required", "tintype_proven"
REQUIRES_SESSION = frozenset({"viewer", "current", "confirmed", "proven"})


class CsrfTokenWrong(Forbidden):
    """Send the value of the cookie tt_csrf in the header X-CSRF-Token."""

    code = "csrf_token_wrong"


class Authenticator:
    """Reads the credentials of requests, and writes the cookies of responses."""

    def __init__(self, rooms: Rooms, limits: RequestLimits) -> None:
        self._rooms, self._limits = rooms, limits
        self._client_cache = rooms.cache.redis_client.client_cache
        self._key = secret_key(rooms.settings)
        self._is_secure = rooms.settings.public_url.startswith("https:")

    async def viewer(self, request: Request[Any, Any, Any]) -> Account:
        """The account that is signed in; refused when none is."""
        return (await self.authenticate(request))[1]

    async def require_recent_proof(self, request: Request[Any, Any, Any]) -> AuthenticatedSession:
        """The session of a request; refused unless its holder proved their identity within the last minutes."""
        session, _ = await self.authenticate(request)
        state = request.scope["state"]
        if not state.get(PROVEN):
            await self._rooms.credentials.require_proof(self.token(request), session.account_id)
            state[PROVEN] = True
        return session

    async def require_factor(self, request: Request[Any, Any, Any]) -> AuthenticatedSession:
        """The session of a request; where a second factor is set up, refused without a recent proof of it."""
        session, _ = await self.authenticate(request)
        state = request.scope["state"]
        if not state.get(PROVEN):
            await self._rooms.credentials.require_factor(self.token(request), session.account_id)
            state[PROVEN] = True
        return session

    async def authenticate(self, request: Request[Any, Any, Any]) -> tuple[AuthenticatedSession, Account]:
        """The session and account of a request; refused when there is none, or when its scopes lack this route's."""
        known: tuple[AuthenticatedSession, Account] | None = request.scope["state"].get(AUTHENTICATED)
        if known is None:
            known = request.scope["state"][AUTHENTICATED] = await self._authenticate(request)
        return known

    async def _authenticate(self, request: Request[Any, Any, Any]) -> tuple[AuthenticatedSession, Account]:
        token = self.token(request)
        found = await self._rooms.authentication.authenticate(token) if token else None
        if found is None:
            raise NotSignedIn
        # Whoever authenticates awaits Redis, so what follows in this request may come from the client-side cache.
        self._client_cache.allow_reads()
        session, account = found
        self._limits.check_account(request.scope, account.id)
        _check_scope(request, session)
        if account.is_suspended and not request.route_handler.opt.get(OPEN_TO_SUSPENDED):
            raise AccountSuspended
        if needs_renewal(session) and request.method == "GET" and not bearer_token(request):
            await self._renew(request, token)
        return session, account

    async def find_reader(self, request: Request[Any, Any, Any]) -> AccountId | None:
        """The account of a request whose credentials let it read; None without such, and for a suspended account.

        For routes that are open to everybody, and open more to some.
        """
        token = self.token(request)
        found = await self._rooms.authentication.authenticate(token) if token else None
        if found is None:
            return None
        session, account = found
        may_read = session.scopes is None or scopes.READ in session.scopes
        return account.id if may_read and account.is_active else None

    def check_address(self, request: Request[Any, Any, Any]) -> None:
        """Count the request for the network that it came from, or refuse it; once, whichever path it takes."""
        if not request.scope["state"].get(ADDRESS_COUNTED):
            self._limits.check_address(request.scope)

    def check_site(self, request: Request[Any, Any, Any]) -> None:
        """Refuse a request that changes something and that a page of another site made."""
        check_site(request, self._rooms.settings.public_url)

    def token(self, request: Request[Any, Any, Any]) -> str:
        """The token of a request, from its header or cookie; empty when it has none."""
        return bearer_token(request) or self._cookie_token(request)

    def caller(self, request: Request[Any, Any, Any]) -> Caller:
        """The network and device that a request came from."""
        return client_of(request, self._rooms.settings)

    def cookies(self, signed_in: SignedIn) -> list[Cookie]:
        """The cookies of a new session: the session token, hidden from scripts, and the CSRF token, which they send.

        The third marks the browser as one that the account has signed in with before (`accounts/known_devices.py`).
        """
        device_token = self._rooms.authentication.issue_device_token(signed_in.account.id)
        return [
            *self.session_cookies(signed_in.token),
            self.cookie(DEVICE_COOKIE, device_token, is_http_only=True, age_s=DEVICE_AGE_S),
        ]

    def clear_cookies(self, request: Request[Any, Any, Any]) -> None:
        """Delete the cookies of the session with the response to this request."""
        request.scope["state"][RENEWED_COOKIES] = [
            Cookie(key=key, value="", max_age=0, path="/") for key in (SESSION_COOKIE, CSRF_COOKIE)
        ]

    def csrf_token(self, token: str) -> str:
        """The CSRF token of a session: a MAC of its token, which another site can neither read nor compute."""
        return hmac.new(self._key, b"csrf:" + token.encode(), hashlib.sha256).hexdigest()

    async def _renew(self, request: Request[Any, Any, Any], token: str) -> None:
        """Replace an old session cookie, so that one that leaked from a backup or log does not work for long."""
        fresh = await self._rooms.authentication.renew_session(token)
        if fresh:
            request.scope["state"][RENEWED_COOKIES] = self.session_cookies(fresh)

    def session_cookies(self, token: str) -> list[Cookie]:
        """The cookies of a session with this token."""
        return [
            self.cookie(SESSION_COOKIE, token, is_http_only=True),
            self.cookie(CSRF_COOKIE, self.csrf_token(token), is_http_only=False),
        ]

    def _cookie_token(self, request: Request[Any, Any, Any]) -> str:
        token = request.cookies.get(SESSION_COOKIE, "")
        if token and request.method not in SAFE_METHODS:
            sent = request.headers.get(CSRF_HEADER, "")
            if not hmac.compare_digest(sent.encode(), self.csrf_token(token).encode()):
                raise CsrfTokenWrong
        return token

    def cookie(self, key: str, value: str, *, is_http_only: bool = True, age_s: int = COOKIE_AGE_S) -> Cookie:
        """A cookie of the whole site, sent by this site's own pages alone."""
        return Cookie(
            key=key,
            value=value,
            max_age=age_s,
            path="/",
            httponly=is_http_only,
            secure=self._is_secure,
            samesite="lax",
        )


def bearer_token(request: Request[Any, Any, Any]) -> str:
    """The token of an `Authorization: Bearer …` header; empty when there is none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


async def check_credentials(request: Request[Any, Any, Any]) -> None:
    """Refuse requests without the credentials that their route requires before the body is read and validated.

    Not a guard: for guards the framework copies the whole route handler at every request.
    """
    handler = request.route_handler
    required: frozenset[str] | None = handler.opt.get(REQUIRED)
    if required is None:
        required = handler.opt[REQUIRED] = REQUIRES_SESSION & handler.parsed_fn_signature.parameters.keys()
    authenticator: Authenticator = request.app.state.authenticator
    authenticator.check_address(request)
    if not (required and bearer_token(request)):  # another site cannot send a bearer token
        authenticator.check_site(request)
    if required:
        await authenticator.authenticate(request)
    if "proven" in required:
        await authenticator.require_recent_proof(request)
    if "confirmed" in required:
        await authenticator.require_factor(request)
    check_media_type(request)


async def add_renewed_cookies(message: Message, scope: Scope) -> None:
    """Add the cookies of a session that was renewed or ended during this request to the response."""
    fresh: list[Cookie] = scope.get("state", {}).get(RENEWED_COOKIES, [])
    if message["type"] == "http.response.start" and fresh:
        headers = MutableScopeHeaders.from_message(message)
        for cookie in fresh:
            headers.add("Set-Cookie", cookie.to_header(header=""))


def _check_scope(request: Request[Any, Any, Any], session: AuthenticatedSession) -> None:
    if session.scopes is None:
        return
    wanted = request.route_handler.opt.get("scope")
    if wanted is None or wanted not in session.scopes:
        raise ScopeMissing(scope=str(wanted))
