"""Carries what a client has written and read from one request to the next, so that replicas never show it less.

Browsers carry it in a cookie, programs in a header that they send back. Only where replicas are named in the settings:
elsewhere every read is the primary's. A request that changes something reads at the primary, and its answer carries
the position of what it wrote; one that only reads may be answered by replicas that have reached the client's position.
"""

from collections.abc import Awaitable, Callable

from litestar.types import HTTPScope, Message, Receive, Send

from shardwright.routing import Session
from tintype.base.replica_reads import reading_as

HEADER, COOKIE = b"tintype-read-token", b"tt_reads"
MAX_AGE_S = 300
"""A replica further behind than ten seconds is not asked at all: after this nothing can be missed."""
READS = frozenset({"GET", "HEAD"})
Answer = Callable[[HTTPScope, Receive, Send], Awaitable[None]]


class ReadSessions:
    """Answers requests with what their client has seen; one per process."""

    def __init__(self, *, is_secure: bool) -> None:
        self._attributes = b"; Path=/api; HttpOnly; SameSite=Lax; Max-Age=%d" % MAX_AGE_S
        self._attributes += b"; Secure" if is_secure else b""

    async def answer(self, answer: Answer, scope: HTTPScope, receive: Receive, send: Send) -> None:
        """Answer a request of the API; the token goes out with the answer if it wrote, or read from a replica.

        Also one that has not changed: what was read may be newer than the cookie, which then has to live longer.
        """
        current = Session.parse(_given(scope))

        async def send_with_token(message: Message) -> None:
            if message["type"] == "http.response.start" and current.is_used:
                token = await current.token()
                message["headers"] = [*message["headers"], *self._headers(scope, token.encode())]
            await send(message)

        if scope["method"] in READS:
            with reading_as(current):
                await answer(scope, receive, send_with_token)
        else:
            with current:
                await answer(scope, receive, send_with_token)

    def _headers(self, scope: HTTPScope, token: bytes) -> list[tuple[bytes, bytes]]:
        """The token for a program; for a browser the cookie alone, which its scripts cannot read."""
        if _find(scope, b"authorization"):
            return [(HEADER, token)]
        return [(b"set-cookie", COOKIE + b"=" + token + self._attributes)]


def _given(scope: HTTPScope) -> str:
    """The token that came with the request; what is no token means that nothing is known, and primaries answer."""
    header = _find(scope, HEADER)
    if header:
        return header.decode("latin-1")
    for each in _find(scope, b"cookie").split(b";"):
        name, _, value = each.strip().partition(b"=")
        if name == COOKIE:
            return value.decode("latin-1")
    return ""


def _find(scope: HTTPScope, name: bytes) -> bytes:
    return next((value for key, value in scope["headers"] if key == name), b"")
