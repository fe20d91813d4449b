"""The head of a page for crawlers: title, description, canonical address, OpenGraph, Twitter card, oEmbed discovery."""

from collections.abc import Iterator
from html import escape
from urllib.parse import urlencode

from tintype.media import fit_preview, preview_url, public_square_urls
from tintype.previews import PostLink, Preview, PreviewImage, ProfileLink

SITE_NAME = "Tintype"
TAGLINE = "Photographs from the people you follow, in the order you choose."
AVATAR_WIDTH = "640"
SITE_ICON = "/icons/plate-512.png"
"""Stands for people without an avatar: OpenGraph requires an image."""


def render_head(preview: Preview, site: str) -> str:
    """The elements that describe a link, in place of the page's own title and description."""
    return "".join(_elements(preview, site))


def render_home_head(site: str) -> str:
    """The elements that describe the site itself."""
    named = {
        "og:site_name": SITE_NAME,
        "og:type": "website",
        "og:title": SITE_NAME,
        "og:description": TAGLINE,
        "og:url": f"{site}/",
        "og:image": site + SITE_ICON,
    }
    properties = "".join(_property(name, value) for name, value in named.items())
    return (
        f"<title>{SITE_NAME}</title>{_meta('description', TAGLINE)}{_canonical(f'{site}/')}{properties}"
        + _meta("twitter:card", "summary")
    )


def oembed_address(address: str, site: str) -> str:
    """Where the oEmbed of an address of this site is."""
    return f"{site}/oembed?{urlencode({'url': address, 'format': 'json'})}"


def image_address(image: PreviewImage, site: str) -> str:
    """The picture of a preview, for whoever fetches it without an account."""
    if image.size is None:
        return site + public_square_urls(image.folder)[AVATAR_WIDTH]
    return site + preview_url(image.folder)


def _elements(preview: Preview, site: str) -> Iterator[str]:
    address = site + preview.link.path
    yield f"<title>{escape(preview.title)} · {SITE_NAME}</title>"
    if preview.description:
        yield _meta("description", preview.description)
    yield _canonical(address)
    yield from (_property(name, value) for name, value in _open_graph(preview, site))
    yield from (_meta(name, value) for name, value in _twitter(preview, site))
    yield (
        '<link rel="alternate" type="application/json+oembed" '
        f'href="{escape(oembed_address(address, site))}" title="{escape(preview.title)}" />'
    )


def _open_graph(preview: Preview, site: str) -> Iterator[tuple[str, str]]:
    """The properties of ogp.me; those of an image stand behind it."""
    yield "og:site_name", SITE_NAME
    yield "og:type", _type_of(preview)
    yield "og:title", preview.title
    if preview.description:
        yield "og:description", preview.description
    yield "og:url", site + preview.link.path
    if preview.image:
        yield "og:image", image_address(preview.image, site)
        yield "og:image:type", "image/jpeg"
        if preview.image.size:
            width, height = fit_preview(*preview.image.size)
            yield "og:image:width", str(width)
            yield "og:image:height", str(height)
        if preview.image.alt:
            yield "og:image:alt", preview.image.alt
    else:
        yield "og:image", site + SITE_ICON
        yield "og:image:type", "image/png"
    if preview.author and isinstance(preview.link, ProfileLink):
        yield "profile:username", preview.author.username
    elif preview.author:
        yield "article:author", f"{site}/@{preview.author.username}"


def _twitter(preview: Preview, site: str) -> Iterator[tuple[str, str]]:
    is_large = preview.image is not None and preview.image.size is not None
    yield "twitter:card", "summary_large_image" if is_large else "summary"
    yield "twitter:title", preview.title
    if preview.description:
        yield "twitter:description", preview.description
    if preview.image:
        yield "twitter:image", image_address(preview.image, site)
        if preview.image.alt:
            yield "twitter:image:alt", preview.image.alt


def _type_of(preview: Preview) -> str:
    if isinstance(preview.link, PostLink):
        return "article"
    return "profile" if isinstance(preview.link, ProfileLink) else "website"


def _canonical(address: str) -> str:
    return f'<link rel="canonical" href="{escape(address)}" />'


def _meta(name: str, value: str) -> str:
    return f'<meta name="{name}" content="{escape(value)}" />'


def _property(name: str, value: str) -> str:
    return f'<meta property="{name}" content="{escape(value)}" />'
