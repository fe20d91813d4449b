"""One log line and one measurement per request; every answer carries its request id and safe headers.

It wraps the whole application from outside, because the framework answers addresses it does not know before any
middleware of its own.
"""

import re
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from functools import lru_cache
from typing import Any

from litestar import Litestar
from prometheus_client import Histogram

from tintype.api.zipping import zipping
from tintype.base.log import begin_request, get_log

log = get_log("http")
SAFE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
QUIET = frozenset({"/healthz", "/readyz", "/metrics"})
CONTENT_POLICY = (
    "default-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; connect-src 'self' ws: wss:; "
    "style-src 'self'; script-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; "
    "form-action 'self'"
)
SAFE_HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "geolocation=(self), camera=(self), microphone=(self)",
}
SAFE_PAIRS = [(name.lower().encode(), value.encode()) for name, value in SAFE_HEADERS.items()]
REQUEST_ID = b"x-request-id"

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

request_seconds = Histogram(
    "tintype_request_seconds", "How long requests took.", ["method", "route", "status"]
)


class RequestLog:
    """An ASGI application around another: gives each request its id, measures it and logs it."""

    def __init__(self, app: Litestar) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Wrap one request."""
        app: Any = self.app  # litestar types its scopes more narrowly than ASGI does
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        offered = next((value for name, value in scope["headers"] if name == REQUEST_ID), b"").decode(
            "latin-1"
        )
        request_id = begin_request(offered if SAFE_ID.fullmatch(offered) else None)
        started = time.perf_counter()
        send = zipping(scope, send)
        status = 500

        async def send_marked(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _marked(message.get("headers", ()), request_id)
            await send(message)

        try:
            await app(scope, receive, send_marked)
        finally:
            _note(scope, status, time.perf_counter() - started)


def _marked(sent: Iterable[tuple[bytes, bytes]], request_id: str) -> list[tuple[bytes, bytes]]:
    """The headers of an answer, with its id and with the safe ones that it does not set itself."""
    headers = [(name.lower(), value) for name, value in sent]
    present = {name for name, _ in headers}
    headers += [pair for pair in SAFE_PAIRS if pair[0] not in present]
    headers.append((REQUEST_ID, request_id.encode()))
    return headers


@lru_cache(maxsize=2_000)
def _seconds_of(method: str, route: str, status: int) -> Histogram:
    return request_seconds.labels(method, route, status)


def _note(scope: Scope, status: int, seconds: float) -> None:
    # The route's template, never the path: a label per id would grow without end.
    route, method = str(scope.get("path_template") or "unmatched"), str(scope["method"])
    _seconds_of(method, route, status).observe(seconds)
    if scope["path"] not in QUIET:
        path, ms = scope["path"], round(seconds * 1000, 1)
        log.info("request.served", method=method, path=path, status=status, ms=ms)
