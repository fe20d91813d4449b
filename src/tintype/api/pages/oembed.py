"""oEmbed (oembed.com): what another site needs to show a link of this one.

Private and unknown links answer alike, with 404: the 401 that the specification has for private ones would tell that
they exist.
"""

from html import escape
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

import msgspec
from litestar import Request, Response, get
from litestar.params import QueryParameter

from tintype.api.http.authentication import Authenticator
from tintype.api.http.dependencies import InjectedRooms
from tintype.api.http.problems import Problem, problem
from tintype.api.pages.app_routes import find_link
from tintype.api.pages.head import SITE_NAME, image_address
from tintype.base.errors import Invalid
from tintype.base.settings import site_url
from tintype.media import fit_preview, public_photo_urls, public_square_urls
from tintype.posts import PostMedia
from tintype.previews import Link, PostLink, Preview, PreviewImage, PreviewNotFound

WIDTH, TEXT_HEIGHT = 550, 136
"""Of an embed without limits, and of what stands above and below its picture, in pixels."""
MAX_RATIO, MIN_RATIO = 1.6, 0.35
"""Height by width, beyond which the picture of an embed gets a margin."""
CACHED_S = 3_600
MAX_SIDE = 10_000
HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Cache-Control": "public, max-age=300",
    "Vary": "Authorization, Cookie",
}
Address = Annotated[str, QueryParameter(name="url", max_length=2_000)]
Side = Annotated[str, QueryParameter(max_length=20)]
Format = Annotated[str, QueryParameter(name="format", max_length=20)]


class SideInvalid(Invalid):
    """maxwidth and maxheight are positive numbers of pixels."""

    code = "side_invalid"


class OEmbed(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The answer, with the names of the specification."""

    type: str
    version: str = msgspec.field(default="")
    title: str
    author_name: str = ""
    author_url: str = ""
    provider_name: str
    provider_url: str
    cache_age: int
    thumbnail_url: str = ""
    thumbnail_width: int = 0
    thumbnail_height: int = 0
    html: str = ""
    width: int = 0
    height: int = 0


@get("/oembed", include_in_schema=False)
async def oembed(
    *,
    request: Request[Any, Any, Any],
    rooms: InjectedRooms,
    address: Address = "",
    maxwidth: Side = "",
    maxheight: Side = "",
    wanted: Format = "json",
) -> Response[OEmbed] | Response[Problem]:
    """How to show a link of this site."""
    if wanted != "json":
        return problem(501, "format_not_implemented", "Only format=json is offered.")
    box = _side(maxwidth), _side(maxheight)
    site = site_url(rooms.settings)
    link = link_of(address, site)
    authenticator: Authenticator = request.app.state.authenticator
    reader = await authenticator.find_reader(request)
    if link is None or not (reader or rooms.settings.guests_may_read):
        raise PreviewNotFound
    preview = await rooms.previews.get(link, viewer=reader)
    return Response(describe(preview, site, box), headers=HEADERS, media_type="application/json")


def link_of(address: str, site: str) -> Link | None:
    """What an address of this site points to; None for another's address."""
    try:
        parts, own = urlsplit(address.strip()), urlsplit(site)
        is_ours = parts.scheme in {"http", "https"} and _authority(parts.netloc) == _authority(own.netloc)
        path = unquote(parts.path, errors="strict")
    except ValueError:
        return None
    return find_link(path.rstrip("/")) if is_ours else None


def describe(preview: Preview, site: str, box: tuple[int, int]) -> OEmbed:
    """The answer for a preview, no wider and no higher than the box; zero stands for no limit."""
    author = preview.author
    found = OEmbed(
        type="link",
        version="1.0",
        title=preview.title,
        author_name=(author.full_name or author.username) if author else "",
        author_url=f"{site}/@{author.username}" if author else "",
        provider_name=SITE_NAME,
        provider_url=f"{site}/",
        cache_age=CACHED_S,
    )
    thumbnail = _thumbnail(preview.image, site, box) if preview.image else None
    if thumbnail:
        address, width, height = thumbnail
        found = msgspec.structs.replace(
            found, thumbnail_url=address, thumbnail_width=width, thumbnail_height=height
        )
    if preview.post is None or not isinstance(preview.link, PostLink):
        return found
    width, height = _embed_size(preview.post.media, box)
    source = f"{site}{preview.link.path}/embed"
    html = (
        f'<iframe src="{escape(source)}" title="{escape(preview.title)}" width="{width}" height="{height}" '
        'style="border:0;max-width:100%" loading="lazy" allowfullscreen></iframe>'
    )
    return msgspec.structs.replace(found, type="rich", html=html, width=width, height=height)


def _embed_size(media: tuple[PostMedia, ...], box: tuple[int, int]) -> tuple[int, int]:
    width = min(WIDTH, box[0] or WIDTH)
    ratio = media[0].height / media[0].width if media else 1.0
    height = round(width * min(MAX_RATIO, max(MIN_RATIO, ratio))) + TEXT_HEIGHT
    return width, min(height, box[1] or height)


def _thumbnail(image: PreviewImage, site: str, box: tuple[int, int]) -> tuple[str, int, int] | None:
    """The largest picture that fits into the box, with its size; none where not even the smallest does."""
    for address, width, height in _renditions(image, site):
        if width <= (box[0] or width) and height <= (box[1] or height):
            return address, width, height
    return None


def _renditions(image: PreviewImage, site: str) -> list[tuple[str, int, int]]:
    """The pictures there are, the largest first; an avatar is a square."""
    if image.size is None:
        squares = public_square_urls(image.folder)
        return [(site + squares[each], int(each), int(each)) for each in ("320", "150")]
    width, height = image.size
    smaller = [
        (site + address, int(size), max(1, round(height * int(size) / width)))
        for size, address in public_photo_urls(image.folder).items()
        if int(size) < min(width, fit_preview(width, height)[0])
    ]
    return [(image_address(image, site), *fit_preview(width, height)), *smaller]


def _side(text: str) -> int:
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) > 0):  # noqa: PLR2004 - digits
        raise SideInvalid
    return min(int(text), MAX_SIDE)


def _authority(netloc: str) -> str:
    return netloc.lower().removesuffix(":80").removesuffix(":443")
