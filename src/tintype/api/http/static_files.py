"""Serves the built web app, with cache headers for each kind of file.

Files under /assets/ have a hash in their name and never change. Any other path gets the app's one page, because the
app has its own router; `PageHead` says with which status, and what stands in its head for crawlers. The build leaves a
`.br` file beside each text file: brotli is a tenth smaller than gzip, and too slow to do here.

The page may contain an inline script, which requests the feed before the app has loaded. The Content-Security-Policy
names it by its hash: no other inline script runs.
"""

import base64
import gzip
import hashlib
import mimetypes
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from litestar import Request, Response, get
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from tintype.api.http.security_headers import CONTENT_SECURITY_POLICY

IMMUTABLE = "public, max-age=31536000, immutable"
REVALIDATE = "no-cache"
COMPRESSIBLE = (
    "text/",
    "application/javascript",
    "application/json",
    "image/svg+xml",
    "application/manifest+json",
)
NOT_BUILT = (
    b"<!doctype html><title>Tintype</title><p>The web app is not built yet. Run <code>./tintype up</code>."
)
NEVER_PAGES = ("api/", "media/", ".well-known/")
METRICS = "metrics"
"""Served on a port of their own: whoever asks here has the wrong one."""
INLINE_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
BROTLI_SUFFIX = ".br"
OK = 200
OWN_HEAD = re.compile(rb'<title>.*?</title>(?:\s*<meta name="description"[^>]*>)?', re.DOTALL)
"""What a head of `PageHead` takes the place of."""
VARY = {"Vary": "Accept-Encoding, Authorization, Cookie"}


@dataclass(frozen=True)
class PageHead:
    """How the app's page answers at one address: elements in place of its title and description, if any."""

    elements: str = ""
    status: int = OK
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


FindHead = Callable[[Request[Any, Any, Any], str], Awaitable[PageHead | Response[str]]]
"""How to answer at a path of the app; a whole response where the page is not the app's."""


@dataclass(frozen=True)
class StaticFile:
    """A file in memory: its content, and its content in each encoding, the smallest first."""

    content: bytes
    encoded: dict[str, bytes]
    media_type: str
    headers: dict[str, str]

    @property
    def etag(self) -> str:
        """The ETag of the content."""
        return self.headers["ETag"]


class WebApp:
    """The files of the built web app, read once."""

    def __init__(self, folder: Path, find_head: FindHead) -> None:
        self._find_head = find_head
        self._files = {
            path.relative_to(folder).as_posix(): _load(path, folder)
            for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.name.startswith(".") and path.suffix != BROTLI_SUFFIX
        }
        self._page = self._files.get("index.html") or _not_built()

    def handler(self) -> HTTPRouteHandler:
        """The route for every path that no other route has."""

        @get(["/", "/{path:path}"], include_in_schema=False)
        async def web_app(
            request: Request[Any, Any, Any], path: FromPath[str] = ""
        ) -> Response[bytes] | Response[str]:
            return await self._answer(request, path.lstrip("/"))

        return web_app

    async def _answer(self, request: Request[Any, Any, Any], path: str) -> Response[bytes] | Response[str]:
        file = self._files.get(path)
        if file is None:
            # A missing file must not get the page; but the username in a profile's path may contain a dot.
            is_file = "." in path.rsplit("/", 1)[-1] and not path.startswith("@")
            if path.startswith(NEVER_PAGES) or path == METRICS or is_file:
                raise NotFoundException("There is nothing at this address.")
            return await self._answer_page(request, path)
        return _respond(request, file)

    async def _answer_page(
        self, request: Request[Any, Any, Any], path: str
    ) -> Response[bytes] | Response[str]:
        head = await self._find_head(request, f"/{path.rstrip('/')}")
        if isinstance(head, Response):
            return head
        page = self._page
        if head.elements:
            elements = head.elements.encode()
            content = OWN_HEAD.sub(lambda _own: elements, page.content, count=1)
            page = StaticFile(content, {}, page.media_type, page.headers | _headers(content, REVALIDATE))
        return _respond(request, page, head)


def _respond(
    request: Request[Any, Any, Any], file: StaticFile, head: PageHead | None = None
) -> Response[bytes]:
    headers = file.headers | (VARY | dict(head.headers) if head else {})
    status = head.status if head else OK
    known = request.headers.get("if-none-match", "").removeprefix("W/")
    if status == OK and known == file.etag:  # an error is never unchanged
        return Response(b"", status_code=304, headers=headers)
    accepted = request.headers.get("accept-encoding", "")
    for encoding, content in file.encoded.items():
        if encoding in accepted:
            return Response(
                content,
                status_code=status,
                media_type=file.media_type,
                headers=headers | {"Content-Encoding": encoding},
            )
    return Response(file.content, status_code=status, media_type=file.media_type, headers=headers)


def _load(path: Path, folder: Path) -> StaticFile:
    content = path.read_bytes()
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    if path.suffix == ".webmanifest":
        media_type = "application/manifest+json"
    is_text = media_type.startswith(COMPRESSIBLE)
    is_asset = path.relative_to(folder).parts[0] == "assets"
    return StaticFile(
        content,
        _encodings(path, content) if is_text else {},
        media_type + ("; charset=utf-8" if is_text else ""),
        _headers(content, IMMUTABLE if is_asset else REVALIDATE) | _policy(content, media_type),
    )


def _encodings(path: Path, content: bytes) -> dict[str, bytes]:
    brotli = path.with_name(path.name + BROTLI_SUFFIX)
    found = {"br": brotli.read_bytes()} if brotli.is_file() else {}
    return found | {"gzip": gzip.compress(content, 9, mtime=0)}


def _headers(content: bytes, cache_control: str) -> dict[str, str]:
    etag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
    return {"ETag": etag, "Cache-Control": cache_control, "Vary": "Accept-Encoding"}


def _policy(content: bytes, media_type: str) -> dict[str, str]:
    """The Content-Security-Policy of a page, with its inline scripts; nothing for other files."""
    if media_type != "text/html":
        return {}
    digests = [
        base64.b64encode(hashlib.sha256(each).digest()).decode() for each in INLINE_SCRIPT.findall(content)
    ]
    allowed = " ".join(["script-src 'self'", *(f"'sha256-{digest}'" for digest in digests)])
    return {"Content-Security-Policy": CONTENT_SECURITY_POLICY.replace("script-src 'self'", allowed)}


def _not_built() -> StaticFile:
    return StaticFile(NOT_BUILT, {}, "text/html", _headers(NOT_BUILT, REVALIDATE))
