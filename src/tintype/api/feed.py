"""The home feed over HTTP: the hottest route, answered with bytes that are spliced, not built."""

from typing import Annotated, Any, Literal

from litestar import Controller, Request, Response, get
from litestar.params import QueryParameter

from tintype.api import scopes
from tintype.api.etags import UNCHANGED, matches
from tintype.api.given import House, Limit, Viewer
from tintype.api.splicing import Splicer
from tintype.api.views import PostsView

LONGEST_CURSOR = 4_000
FeedCursor = Annotated[
    str | None,
    QueryParameter(
        description="Where the page begins: `next_cursor` of the page before.", max_length=LONGEST_CURSOR
    ),
]
Mode = Annotated[
    Literal["ranked", "following"],
    QueryParameter(description="The best first, or simply the newest first."),
]


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
        mode: Mode = "ranked",
    ) -> Response[PostsView]:
        """Posts of the people one follows and one's own; each once in a whole scroll, whatever is posted meanwhile."""
        pages: Splicer = request.app.state.pages
        page = await rooms.feed.read(viewer.id, mode=mode, cursor=cursor, limit=limit)
        parts, etag = pages.splice(
            page.entries, rooms.shards.map.layout, viewer=viewer.id, next_cursor=page.next_cursor
        )
        headers = {"ETag": etag, "Cache-Control": "private, no-cache", "Vary": "Authorization, Cookie"}
        if matches(request.headers.get("if-none-match", ""), etag):
            return Response(None, status_code=304, headers=headers)  # pyright: ignore[reportReturnType] - 304 has no content
        return Response(b"".join(parts), headers=headers, media_type="application/json")  # pyright: ignore[reportReturnType] - encoded already
