"""The home feed over HTTP: the hottest route, answered with bytes that are spliced, not built."""

import hashlib
from collections.abc import Iterable
from typing import Annotated, Any

import msgspec
from litestar import Controller, Request, Response, get
from litestar.params import QueryParameter
from litestar.status_codes import HTTP_200_OK
from litestar.types import Receive, Scope, Send

from tintype.api import scopes
from tintype.api.etags import UNCHANGED, matches
from tintype.api.given import House, Limit, Viewer
from tintype.api.splicing import TAG_BYTES, Splicer
from tintype.api.views import PostsView
from tintype.feed import LONGEST_CURSOR, Mode
from tintype.ranking import Explanation

COMMON_HEADERS = [(b"cache-control", b"private, no-cache"), (b"vary", b"Authorization, Cookie")]
JSON = (b"content-type", b"application/json")
FeedCursor = Annotated[
    str | None,
    QueryParameter(
        description="Where the page begins: `next_cursor` of the page before.", max_length=LONGEST_CURSOR
    ),
]
FeedMode = Annotated[
    Mode,
    QueryParameter(description="The best first, or simply the newest first."),
]
FeedExplained = Annotated[
    bool, QueryParameter(description="Whether to say of each post why it stands where it does.")
]


class FeedView(PostsView, frozen=True):
    """A page of the feed, and why its posts are where they are if that was asked for, by post."""

    explanations: dict[str, Explanation] | None = None


class FeedApi(Controller):
    """The home feed."""

    path = "/api/v1"
    tags = ("Feed",)

    @get("/feed", summary="The home feed", scope=scopes.READ, responses=UNCHANGED)
    async def feed(
        self,
        request: Request[Any, Any, Any],
        *,
        viewer: Viewer,
        rooms: House,
        cursor: FeedCursor = None,
        limit: Limit = 20,
        mode: FeedMode = "ranked",
        explain: FeedExplained = False,
    ) -> Response[FeedView]:
        """Posts of the people one follows and one's own; each once in a whole scroll, whatever is posted meanwhile."""
        pages: Splicer = request.app.state.pages
        page = await rooms.feed.read(viewer.id, mode=mode, cursor=cursor, limit=limit)
        body, etag = pages.splice(
            page.entries, rooms.shards.map.layout, viewer=viewer.id, next_cursor=page.next_cursor
        )
        if explain:
            told = await rooms.ranking.why(viewer.id, [entry.id for entry in page.entries])
            body, etag = _with_reasons(body, told.values())
        if matches(request.headers.get("if-none-match", ""), etag):
            return Ready(304, etag)
        return Ready(200, etag, body)


def _with_reasons(body: bytes, told: Iterable[Explanation]) -> tuple[bytes, str]:
    """The page goes on behind its last field; reasons change by the second, so the page has a mark of its own."""
    reasons = msgspec.json.encode({each.post_id: each for each in told})
    whole = b'%b,"explanations":%b}' % (body[:-1], reasons)
    return whole, f'"{hashlib.blake2b(whole, digest_size=TAG_BYTES).hexdigest()}"'


class Ready(Response[FeedView]):
    """An answer that is bytes already. The framework's own looks through all headers for each one that it adds."""

    def __init__(self, status: int, etag: str, body: bytes = b"") -> None:  # pyright: ignore[reportMissingSuperCall] - nothing of it is used
        self.status_code, self._etag, self._body = status, etag.encode(), body

    def to_asgi_response(self, *_args: Any, **_options: Any) -> Any:
        """What sends it: the framework has nothing to add on this route."""
        return self._send

    async def _send(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        await send_page(send, self.status_code or 0, self._etag, self._body)


async def send_page(send: Send, status: int, etag: bytes, body: bytes) -> None:
    """Send a page, or that it has not changed."""
    headers = [*COMMON_HEADERS, (b"etag", etag)]
    if status == HTTP_200_OK:
        headers += [JSON, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
