"""Bodies that do not arrive: answered with 408 instead of being waited for.

A body may pause for some seconds, and over its whole length must come at a kilobyte a second or faster. A refusal that
is sent before the body was read closes the connection, because what follows on it would be the rest of that body; up to
a megabyte of it is then read and dropped, so that clients that only listen after sending see the refusal.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from tintype.base.errors import TintypeError

SLOWEST_BYTES_PER_S = 1_024
MAX_DROPPED_BYTES, MAX_DROP_S = 1024 * 1024, 2.0
MAX_SKIPPED_BYTES, MAX_SKIP_S = 64 * 1024, 0.05
"""What a refusal reads before it is sent, so that a small body that is there already does not cost the connection."""
Receive = Callable[[], Awaitable[Any]]


class BodyTimeout(TintypeError):
    """The body of the request did not arrive in time; send it again."""

    code = "body_timeout"


class RequestBody:
    """The body of one request, read with a limit on how slowly it may arrive."""

    def __init__(self, receive: Receive, *, pause_s: float, on_whole: Callable[[], None]) -> None:
        self._receive, self._pause_s, self._on_whole = receive, pause_s, on_whole
        self._started, self._size_bytes = time.monotonic(), 0
        self.is_whole = False

    async def receive(self) -> Any:
        """The next part of the body; a BodyTimeout where it does not come. After the last part: as ASGI says."""
        if self.is_whole:
            return await self._receive()
        patience_s = self._patience_s()
        if patience_s <= 0:  # the server does not forget a read that is cancelled the moment it begins
            raise BodyTimeout(received_bytes=self._size_bytes)
        try:
            async with asyncio.timeout(patience_s):
                message = await self._receive()
        except TimeoutError:
            raise BodyTimeout(received_bytes=self._size_bytes) from None
        self._size_bytes += len(message.get("body", b""))
        if not message.get("more_body", False):
            self.is_whole = True
            self._on_whole()
        return message

    async def skip(self) -> None:
        """Read what is left of a small body, if it is there already."""
        await self._drop(MAX_SKIPPED_BYTES, MAX_SKIP_S)

    async def drop(self) -> None:
        """Read what is left of the body and drop it, within limits."""
        await self._drop(MAX_DROPPED_BYTES, MAX_DROP_S)

    def release(self) -> None:
        """Let go of the server's side of the body."""
        self._receive, self.is_whole = _no_body, True

    async def _drop(self, max_bytes: int, max_s: float) -> None:
        dropped = 0
        try:
            async with asyncio.timeout(max_s):
                while not self.is_whole and dropped <= max_bytes:
                    message = await self.receive()
                    dropped += len(message.get("body", b""))
        except (TimeoutError, BodyTimeout):
            return  # it does not come, or not soon

    def _patience_s(self) -> float:
        spent_s = time.monotonic() - self._started
        whole_s = self._pause_s + self._size_bytes / SLOWEST_BYTES_PER_S
        return min(self._pause_s, whole_s - spent_s)


async def _no_body() -> Any:
    return {"type": "http.disconnect"}


def has_body(headers: Any) -> bool:
    """Whether a request announces a body."""
    return any(
        (name == b"content-length" and value.strip() not in {b"", b"0"}) or name == b"transfer-encoding"
        for name, value in headers
    )
