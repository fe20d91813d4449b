"""Sends a rendered page of the feed: the same headers from the route and from the fast path."""

from typing import Any

from litestar import Response
from litestar.status_codes import HTTP_200_OK
from litestar.types import Receive, Scope, Send

from tintype.api.views.feed import FeedView

COMMON_HEADERS = [(b"cache-control", b"private, no-store"), (b"vary", b"Authorization, Cookie")]
JSON = (b"content-type", b"application/json")


class PageResponse(Response[FeedView]):
    """A response whose body is bytes already; the framework's own scans all headers for each one that it adds."""

    def __init__(self, status: int, etag: str, body: bytes = b"") -> None:  # pyright: ignore[reportMissingSuperCall] - nothing of it is used
        self.status_code, self._etag, self._body = status, etag.encode(), body

    def to_asgi_response(self, *_args: Any, **_options: Any) -> Any:
        """The ASGI application that sends it."""
        return self._send

    async def _send(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        await send_page(send, self.status_code or 0, self._etag, self._body)


async def send_page(send: Send, status: int, etag: bytes, body: bytes) -> None:
    """Send a page, or a 304 without a body."""
    headers = [*COMMON_HEADERS, (b"etag", etag)]
    if status == HTTP_200_OK:
        headers += [JSON, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
