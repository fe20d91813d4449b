"""The looks over HTTP: the list, and the colour tables that the browser's preview reads."""

import msgspec
from litestar import Controller, Response, get
from litestar.params import FromPath

from tintype.media.looks import Look, LookNotFound, find_strip, list_looks

FOR_EVER = "public, max-age=31536000, immutable"
AN_HOUR = "public, max-age=3600"


class LooksView(msgspec.Struct, frozen=True):
    """All looks, in the order in which people see them."""

    looks: tuple[Look, ...]


class LooksApi(Controller):
    """What a photo can be made to look like."""

    path = "/api/v1"
    tags = ("Media",)

    @get("/looks", summary="All looks", sync_to_thread=False)
    def all_looks(self) -> Response[LooksView]:
        """Names, and where the colour table of each look lies. The same for everybody."""
        return Response(LooksView(list_looks()), headers={"Cache-Control": AN_HOUR})

    @get("/looks/{file_name:str}", summary="A look's colour table", media_type="image/png")
    async def strip(self, file_name: FromPath[str]) -> Response[bytes]:
        """A PNG of 1089 by 33: 33 slices, red to the right, green down, blue from slice to slice."""
        content = find_strip(file_name)
        if content is None:
            raise LookNotFound
        return Response(content, media_type="image/png", headers={"Cache-Control": FOR_EVER})
