"""One log line and one measurement per request; every answer carries its request id and safe headers.

It wraps the whole application from outside, because the framework answers addresses it does not know before any
middleware of its own.
"""

import re
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from litestar import Litestar
from litestar.datastructures import MutableScopeHeaders
from prometheus_client import Histogram

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
        offered = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
        request_id = begin_request(offered if SAFE_ID.fullmatch(offered) else None)
        started = time.perf_counter()
        status = 500

        async def send_marked(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableScopeHeaders.from_message(message)
                headers["X-Request-Id"] = request_id
                for name, value in SAFE_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await app(scope, receive, send_marked)
        finally:
            _note(scope, status, time.perf_counter() - started)


def _note(scope: Scope, status: int, seconds: float) -> None:
    # The route's template, never the path: a label per id would grow without end.
    route, method = str(scope.get("path_template") or "unmatched"), str(scope["method"])
    request_seconds.labels(method, route, status).observe(seconds)
    if scope["path"] not in QUIET:
        path, ms = scope["path"], round(seconds * 1000, 1)
        log.info("request.served", method=method, path=path, status=status, ms=ms)
