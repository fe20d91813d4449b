"""Looks (filters for photos) over HTTP: the list, and their colour tables for previews in the browser."""

from litestar import Controller, Response, get
from litestar.params import FromPath

from tintype.api.views.looks import LooksView
from tintype.media import LookNotFound, find_strip, list_looks

IMMUTABLE = "public, max-age=31536000, immutable"
ONE_HOUR = "public, max-age=3600"


class LooksApi(Controller):
    """Filters for photos."""

    path = "/api/v1"
    tags = ("Media",)

    @get("/looks", summary="All looks", sync_to_thread=False)
    def all_looks(self) -> Response[LooksView]:
        """Every look with its name and the URL of its colour table."""
        return Response(LooksView(list_looks()), headers={"Cache-Control": ONE_HOUR})

    @get("/looks/{file_name:str}", summary="A look's colour table", media_type="image/png")
    async def strip(self, file_name: FromPath[str]) -> Response[bytes]:
        """A PNG of 1089 by 33: 33 slices, red to the right, green down, blue from slice to slice."""
        content = find_strip(file_name)
        if content is None:
            raise LookNotFound
        return Response(content, media_type="image/png", headers={"Cache-Control": IMMUTABLE})
