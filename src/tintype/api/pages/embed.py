"""`/p/<code>/embed`: a post in a frame of another site. The only page of this one that may be framed.

It runs no script and reads no cookie that another site could send along, so there is nothing in it to click-jack.
"""

import base64
import hashlib
from html import escape
from typing import Any

from litestar import Request, Response

from tintype.accounts import Account
from tintype.api.http.authentication import Authenticator
from tintype.api.pages.app_routes import find_link
from tintype.api.pages.embed_texts import EmbedTexts, texts_for
from tintype.api.pages.head import SITE_NAME
from tintype.base.settings import site_url
from tintype.media import public_photo_urls
from tintype.posts import Post
from tintype.previews import Preview, PreviewGone, PreviewNotFound
from tintype.wiring import Rooms

STYLE = """
*{box-sizing:border-box;margin:0}
html{height:100%;color-scheme:light dark}
body{height:100%;display:flex;flex-direction:column;font:15px/1.4 system-ui,sans-serif;color:#1d1a17;background:#fff;
border:1px solid #d9d5d0}
a{color:inherit;text-decoration:none}
a:focus-visible{outline:2px solid #b3261e;outline-offset:-2px}
header{display:flex;align-items:center;gap:10px;padding:10px 14px;font-weight:600;min-width:0}
header a{min-width:0}
header img,header i{display:block;width:36px;height:36px;
border-radius:50%;flex:none;object-fit:cover;background:#d9d5d0}
header span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.picture{flex:1;min-height:0;display:block;background:#151311;position:relative}
.picture img{display:block;width:100%;height:100%;object-fit:contain}
.more{position:absolute;inset-block-start:10px;inset-inline-end:10px;padding:2px 8px;border-radius:10px;
font-size:13px;color:#fff;background:#151311cc}
footer{padding:10px 14px}
footer p{overflow:hidden;display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;min-height:0}
footer a{display:inline-block;padding-block:3px;font-weight:600;color:#b3261e}
.away{flex:1;display:grid;place-content:center;gap:8px;padding:20px;text-align:center}
@media (prefers-color-scheme:dark){body{color:#f3f2f0;background:#1d1a17;border-color:#3a3530}footer a{color:#ff8a80}}
"""
DIGEST = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; img-src 'self'; style-src 'sha256-{DIGEST}'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors *"
    ),
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Cache-Control": "no-cache",
    "Vary": "Accept-Language, Authorization, Cookie",
    "X-Robots-Tag": "noindex",
}


async def embed_page(request: Request[Any, Any, Any], rooms: Rooms, code: str) -> Response[str]:
    """A post for a frame of another site."""
    texts = texts_for(request.headers.get("accept-language", ""))
    site = site_url(rooms.settings)
    try:
        preview = await _get_preview(request, rooms, code)
    except PreviewNotFound as error:
        status = 410 if isinstance(error, PreviewGone) else 404
        return _respond(_page(texts, SITE_NAME, _away(texts, site)), status)
    post, author = preview.post, preview.author
    if post is None or author is None:
        return _respond(_page(texts, SITE_NAME, _away(texts, site)), 404)
    address = site + preview.link.path
    body = _header(author, site) + _picture(post, address, preview) + _footer(preview, address, texts)
    return _respond(_page(texts, f"{preview.title} · {SITE_NAME}", body, address), 200)


async def _get_preview(request: Request[Any, Any, Any], rooms: Rooms, code: str) -> Preview:
    link = find_link(f"/p/{code}")
    authenticator: Authenticator = request.app.state.authenticator
    reader = await authenticator.find_reader(request)
    if link is None or not (reader or rooms.settings.guests_may_read):
        raise PreviewNotFound
    return await rooms.previews.get(link, viewer=reader)


def _respond(page: str, status: int) -> Response[str]:
    return Response(page, status_code=status, media_type="text/html; charset=utf-8", headers=HEADERS)


def _page(texts: EmbedTexts, title: str, body: str, canonical: str = "") -> str:
    link = f'<link rel="canonical" href="{escape(canonical)}">' if canonical else ""
    return (
        f'<!doctype html><html lang="{texts.language}" dir="{texts.direction}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>{link}<style>{STYLE}</style></head><body>{body}</body></html>"
    )


def _header(author: Account, site: str) -> str:
    name = escape(author.full_name or f"@{author.username}")
    face = "<i></i>"
    if author.avatar_folder:
        face = f'<img src="{escape(public_photo_urls(author.avatar_folder)["150"])}" alt="">'
    return (
        f'<header><a href="{escape(f"{site}/@{author.username}")}" target="_blank" rel="noopener">{face}</a>'
        f'<a href="{escape(f"{site}/@{author.username}")}" target="_blank" rel="noopener">'
        f'<span dir="auto">{name}</span></a></header>'
    )


def _picture(post: Post, address: str, preview: Preview) -> str:
    if preview.image is None:
        return ""
    urls = public_photo_urls(preview.image.folder)
    sizes = ", ".join(f"{url} {size}w" for size, url in urls.items() if int(size) <= 1080)  # noqa: PLR2004 - an embed is not larger
    count = f'<span class="more">1/{len(post.media)}</span>' if len(post.media) > 1 else ""
    return (
        f'<a class="picture" href="{escape(address)}" target="_blank" rel="noopener">'
        f'<img src="{escape(urls["640"])}" srcset="{escape(sizes)}" sizes="100vw" '
        f'alt="{escape(preview.image.alt or preview.description)}">{count}</a>'
    )


def _footer(preview: Preview, address: str, texts: EmbedTexts) -> str:
    caption = f'<p dir="auto">{escape(preview.description)}</p>' if preview.description else ""
    return (
        f'<footer>{caption}<a href="{escape(address)}" target="_blank" rel="noopener">'
        f"{escape(texts.view)}</a></footer>"
    )


def _away(texts: EmbedTexts, site: str) -> str:
    return (
        f'<div class="away"><p>{escape(texts.away)}</p>'
        f'<footer><a href="{escape(site)}/" target="_blank" rel="noopener">{SITE_NAME}</a></footer></div>'
    )
