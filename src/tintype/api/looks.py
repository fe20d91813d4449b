"""The looks over HTTP: which there are, and the colour tables that a browser previews them with."""

import asyncio

import msgspec
from litestar import Response, get
from litestar.params import FromPath

from tintype.base.errors import NotFound
from tintype.media import find_strip, list_looks

FOR_EVER = "public, max-age=31536000, immutable"


class LookNotFound(NotFound):
    """There is no such look."""

    code = "look_not_found"


class LookView(msgspec.Struct, frozen=True):
    """A look; `look_id` goes into an edit, `strip` is the address of its colour table."""

    look_id: str
    name: str
    strip: str
    vignette: int
    grain: int


class LooksView(msgspec.Struct, frozen=True):
    """All looks, in the order in which people see them."""

    looks: list[LookView]


@get("/api/v1/media/looks", summary="The looks", tags=["Media"])
async def looks() -> LooksView:
    """Every look that an edit can name."""
    found = await asyncio.to_thread(list_looks)
    shown = [LookView(look.id, look.name, look.strip, look.vignette, look.grain) for look in found]
    return LooksView(shown)


@get("/looks/{name:str}", include_in_schema=False)
async def look_strip(name: FromPath[str]) -> Response[bytes]:
    """A colour table; its name changes with its content."""
    content = await asyncio.to_thread(find_strip, name)
    if content is None:
        raise LookNotFound
    return Response(content, media_type="image/png", headers={"Cache-Control": FOR_EVER})
