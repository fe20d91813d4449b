"""One log line and one measurement per request; every response gets its request id, security headers and gzip.

It wraps the whole application, because the framework answers unknown paths before any of its own middleware runs.
"""

import re
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from functools import lru_cache
from typing import Any

from litestar import Litestar
from prometheus_client import Histogram

from tintype.api.http.gzip_encoding import gzip_if_accepted
from tintype.api.http.security_headers import add_security_headers
from tintype.base.log import begin_request, get_log

log = get_log("http")
SAFE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
UNLOGGED = frozenset({"/healthz", "/readyz", "/metrics"})
REQUEST_ID = b"x-request-id"

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

request_seconds = Histogram(
    "tintype_request_seconds", "How long requests took.", ["method", "route", "status"]
)


class RequestLog:
    """ASGI middleware: gives each request an id, measures it and logs it."""

    def __init__(self, app: Litestar) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        app: Any = self.app  # litestar types its scopes more narrowly than ASGI does
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        given_id = next((value for name, value in scope["headers"] if name == REQUEST_ID), b"").decode(
            "latin-1"
        )
        request_id = begin_request(given_id if SAFE_ID.fullmatch(given_id) else None)
        started = time.perf_counter()
        send = gzip_if_accepted(scope, send)
        status = 500

        async def send_with_headers(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _with_headers(message.get("headers", ()), request_id)
            await send(message)

        try:
            await app(scope, receive, send_with_headers)
        finally:
            _record(scope, status, time.perf_counter() - started)


def _with_headers(sent: Iterable[tuple[bytes, bytes]], request_id: str) -> list[tuple[bytes, bytes]]:
    """The headers of a response with its request id and the security headers."""
    headers = [(name.lower(), value) for name, value in sent]
    add_security_headers(headers)
    headers.append((REQUEST_ID, request_id.encode()))
    return headers


@lru_cache(maxsize=2_000)
def _seconds_of(method: str, route: str, status: int) -> Histogram:
    return request_seconds.labels(method, route, status)


def _record(scope: Scope, status: int, seconds: float) -> None:
    # The template of the route, not its path: a label per id would grow without limit.
    route, method = str(scope.get("path_template") or "unmatched"), str(scope["method"])
    _seconds_of(method, route, status).observe(seconds)
    if scope["path"] not in UNLOGGED:
        path, ms = scope["path"], round(seconds * 1000, 1)
        log.info("request.served", method=method, path=path, status=status, ms=ms)
