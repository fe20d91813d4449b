"""The home feed over HTTP, the hottest route: the answer is joined from cached JSON fragments."""

from collections.abc import Iterable
from typing import Annotated, Any

import msgspec
from litestar import Controller, Request, Response, get
from litestar.params import QueryParameter

from tintype.api.feed_fast_path import FeedPageRenderer, PageResponse
from tintype.api.http import scopes
from tintype.api.http.dependencies import InjectedRooms, Limit, Viewer
from tintype.api.http.etags import NOT_MODIFIED, etag_matches, make_etag
from tintype.api.views.feed import FeedView
from tintype.feed import MAX_CURSOR_LENGTH, Mode
from tintype.ranking import Explanation

FeedCursor = Annotated[
    str | None,
    QueryParameter(
        description="Where the page begins: `next_cursor` of the page before.", max_length=MAX_CURSOR_LENGTH
    ),
]
FeedMode = Annotated[Mode, QueryParameter(description="Ranked, or the newest first.")]
FeedExplained = Annotated[bool, QueryParameter(description="Whether to explain the rank of each post.")]


class FeedApi(Controller):
    """The home feed."""

    path = "/api/v1"
    tags = ("Feed",)

    @get("/feed", summary="The home feed", scope=scopes.READ, responses=NOT_MODIFIED)
    async def feed(
        self,
        request: Request[Any, Any, Any],
        *,
        viewer: Viewer,
        rooms: InjectedRooms,
        cursor: FeedCursor = None,
        limit: Limit = 20,
        mode: FeedMode = "ranked",
        explain: FeedExplained = False,
    ) -> Response[FeedView]:
        """Posts of the viewer's followees, and new ones of the viewer's own. No post comes twice in a scroll."""
        pages: FeedPageRenderer = request.app.state.feed_pages
        page = await rooms.feed.read(viewer.id, mode=mode, cursor=cursor, limit=limit)
        body, etag = pages.render(
            page.entries, rooms.shards.map.layout, viewer=viewer.id, next_cursor=page.next_cursor
        )
        if explain:
            explanations = await rooms.ranking.explain_now(viewer.id, [entry.id for entry in page.entries])
            body, etag = _add_explanations(body, explanations.values())
        if etag_matches(request.headers.get("if-none-match", ""), etag):
            return PageResponse(304, etag)
        return PageResponse(200, etag, body)


def _add_explanations(body: bytes, explanations: Iterable[Explanation]) -> tuple[bytes, str]:
    """The page with explanations as its last field. They change by the second, so the ETag is made from the whole."""
    encoded = msgspec.json.encode({each.post_id: each for each in explanations})
    whole = b'%b,"explanations":%b}' % (body[:-1], encoded)
    return whole, make_etag(whole)
