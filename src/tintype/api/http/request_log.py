"""One log line and one measurement per request; every response gets its request id, security headers and gzip.

It wraps the whole application, because the framework answers unknown paths before any of its own middleware runs. Here
requests end whose body does not arrive, and nothing that the application raises gets past it: the server's own log
would show it as it is.
"""

import re
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from functools import lru_cache
from typing import Any

from litestar import Litestar
from prometheus_client import Histogram

from tintype.api.http.client_info import forwarded_network
from tintype.api.http.connection_guard import ConnectionGuard, TooManyAtOnce, network
from tintype.api.http.gzip_encoding import gzip_if_accepted
from tintype.api.http.problems import send_problem
from tintype.api.http.request_bodies import RequestBody, has_body
from tintype.api.http.request_limits import ACCOUNT_ID, add_limit_headers
from tintype.api.http.request_secrets import secrets_of
from tintype.api.http.security_headers import add_security_headers
from tintype.api.http.sockets import MAPPED_IPV4
from tintype.base.log import begin_request, get_log
from tintype.base.settings import Settings

log = get_log("http")
SAFE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
UNLOGGED = frozenset({"/healthz", "/readyz"})
REQUEST_ID = b"x-request-id"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
CLOSE = (b"connection", b"close")
TRY_AGAIN_LATER = 1013
"""The code that a WebSocket is closed with."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

request_seconds = Histogram(
    "tintype_request_seconds", "How long requests took.", ["method", "route", "status"]
)


class ResponseAborted(Exception):
    """A response failed half-way: the connection is closed, so that nobody takes the half for the whole."""


class RequestLog:
    """ASGI middleware: gives each request an id, measures it and logs it."""

    def __init__(
        self, app: Litestar, settings: Settings | None = None, guard: ConnectionGuard | None = None
    ) -> None:
        self.app = app
        self._settings = settings or Settings()
        self._guard = guard
        self._is_https = self._settings.public_url.startswith("https:")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        app: Any = self.app  # litestar types its scopes more narrowly than ASGI does
        if scope["type"] == "websocket":
            await self._hold(app, scope, receive, send)
            return
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        given_id = next((value for name, value in scope["headers"] if name == REQUEST_ID), b"").decode(
            "latin-1"
        )
        request_id = begin_request(given_id if SAFE_ID.fullmatch(given_id) else None, hide=secrets_of(scope))
        scope.setdefault("state", {})  # shared with the copy that a HEAD request is answered from
        exchange = _Exchange(scope, receive, gzip_if_accepted(scope, send), request_id, self._is_https)
        exchange.limit_body(self._settings.http_stall_s, self._guard)
        try:
            await self._handle(app, scope, exchange)
            await exchange.drop_rest()
        finally:
            exchange.release()

    async def _hold(self, app: Any, scope: Scope, receive: Receive, send: Send) -> None:
        """A live connection: it counts for its address, and is not idle however quiet it is."""
        guard, peer = self._guard, _peer_of(scope)
        if guard is None:
            await app(scope, receive, send)
            return
        address = forwarded_network(scope, self._settings) or f"live {network(peer[0])}"
        try:
            guard.enter(address)
        except TooManyAtOnce:
            await receive()
            await send({"type": "websocket.close", "code": TRY_AGAIN_LATER})
            return
        guard.begin_answer(peer)
        try:
            await app(scope, receive, send)
        except Exception:
            log.exception("live.crashed")  # as for requests: here, and nowhere else
        finally:
            guard.end_answer(peer)
            guard.leave(address)

    async def _handle(self, app: Any, scope: Scope, exchange: "_Exchange") -> None:
        started = time.perf_counter()
        try:
            await self._answer(app, scope, exchange)
        except Exception as error:  # noqa: BLE001 - whatever was raised is logged here, and nowhere else
            await exchange.fail(error)
        finally:
            if self._guard is not None:
                self._guard.end_answer(exchange.peer)
            _record(scope, exchange.status, time.perf_counter() - started)

    async def _answer(self, app: Any, scope: Scope, exchange: "_Exchange") -> None:
        forwarded_for = forwarded_network(scope, self._settings) if self._guard is not None else ""
        if self._guard is None or not forwarded_for:
            await app(scope, exchange.receive, exchange.send)
            return
        try:
            self._guard.enter(forwarded_for)
        except TooManyAtOnce as error:
            await send_problem(scope, exchange.receive, exchange.send, error)
            return
        try:
            await app(scope, exchange.receive, exchange.send)
        finally:
            self._guard.leave(forwarded_for)


class _Exchange:
    """A request and its response: what was read of the one, and how far the other has come."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, request_id: str, is_https: bool) -> None:
        self._scope, self.receive, self._send = scope, receive, send
        self._request_id, self._is_https = request_id, is_https
        self._body: RequestBody | None = None
        self.peer = _peer_of(scope)
        self.status, self._is_started = 500, False

    def limit_body(self, pause_s: float, guard: ConnectionGuard | None) -> None:
        """Watch over the body, if there is one; once it is there as a whole, the connection may not be cut."""

        def on_whole() -> None:
            if guard is not None:
                guard.begin_answer(self.peer)

        if has_body(self._scope["headers"]):
            self._body = RequestBody(self.receive, pause_s=pause_s, on_whole=on_whole)
            self.receive = self._body.receive
        else:
            on_whole()

    async def send(self, message: Any) -> None:
        """Send a part of the response; its start gets the headers that every response has."""
        if message["type"] == "http.response.start":
            self._is_started, self.status = True, message["status"]
            message["headers"] = headers = _with_headers(
                message.get("headers", ()), self._request_id, self._is_https
            )
            add_limit_headers(headers, self._scope)
            if self._body is not None and not self._body.is_whole:
                await self._body.skip()
                headers += [] if self._body.is_whole else [CLOSE]
        await self._send(message)

    async def fail(self, error: Exception) -> None:
        """Log what the application raised, and answer with 500; a response that has begun is aborted."""
        log.error("request.crashed", path=self._scope["path"], exc_info=error)
        if self._is_started:
            raise ResponseAborted from None
        await send_problem(self._scope, self.receive, self.send, error)

    async def drop_rest(self) -> None:
        """Read what is left of the body: a client that is still sending would not see the response otherwise."""
        if self._body is not None:
            await self._body.drop()

    def release(self) -> None:
        """Let go of the server's side of the connection.

        An error that was raised refers to itself through its traceback and lives until the next garbage collection, and
        with it everything that the application was given. The server closes a connection with an unread body only when
        nobody can read it any more: a tenth of them stayed open for a minute.
        """
        self.receive = self._send = _released
        if self._body is not None:
            self._body.release()


def _peer_of(scope: Scope) -> tuple[str, int]:
    client = scope.get("client") or ("", 0)
    return str(client[0]).removeprefix(MAPPED_IPV4), int(client[1])


async def _released(*_: Any) -> Any:
    raise ResponseAborted


def _with_headers(
    sent: Iterable[tuple[bytes, bytes]],
    request_id: str,
    is_https: bool,
) -> list[tuple[bytes, bytes]]:
    """The headers of a response with its request id and the security headers."""
    headers = [(name.lower(), value) for name, value in sent]
    add_security_headers(headers, is_https=is_https)
    headers.append((REQUEST_ID, request_id.encode()))
    return headers


@lru_cache(maxsize=2_000)
def _seconds_of(method: str, route: str, status: int) -> Histogram:
    return request_seconds.labels(method, route, status)


def _record(scope: Scope, status: int, seconds: float) -> None:
    # The template of the route, not its path, and no method that somebody made up: labels must not grow without limit.
    route, method = str(scope.get("path_template") or "unmatched"), str(scope["method"])
    _seconds_of(method if method in METHODS else "other", route, status).observe(seconds)
    if scope["path"] not in UNLOGGED:
        account_id = scope["state"].get(ACCOUNT_ID)
        who = {} if account_id is None else {"account_id": account_id}
        path, ms = scope["path"], round(seconds * 1000, 1)
        log.info("request.served", method=method[:20], path=path, status=status, ms=ms, **who)
