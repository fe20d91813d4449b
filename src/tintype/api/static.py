"""Serves the built web app with the caching each of its files can bear.

Files under /assets/ carry a hash in their name, so they never change; everything else is the app's one page,
whatever the address, because the app routes by itself. The build leaves a `.br` beside each text: brotli takes a tenth
less than gzip, and too long to do here.

The page may hold a script of its own, which asks for the feed before the app has arrived. The site's policy names it by
its hash: no other script in a page runs.
"""

import base64
import gzip
import hashlib
import mimetypes
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litestar import Request, Response, get
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from tintype.api.requests import CONTENT_POLICY

FOR_EVER = "public, max-age=31536000, immutable"
ALWAYS_ASK = "no-cache"
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
API_PREFIXES = ("api/", "media/")
OWN_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
SQUEEZED = ".br"


@dataclass(frozen=True)
class StaticFile:
    """A file in memory, plain and in each encoding that it has, the smallest first."""

    content: bytes
    encoded: dict[str, bytes]
    media_type: str
    headers: dict[str, str]

    @property
    def etag(self) -> str:
        """What names these bytes."""
        return self.headers["ETag"]


class WebApp:
    """The built files, read once."""

    def __init__(self, folder: Path) -> None:
        self._files = {
            path.relative_to(folder).as_posix(): _load(path, folder)
            for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.name.startswith(".") and path.suffix != SQUEEZED
        }
        self._page = self._files.get("index.html") or _not_built()

    def handler(self) -> HTTPRouteHandler:
        """The route that catches every address no other route has."""

        @get(["/", "/{path:path}"], include_in_schema=False, sync_to_thread=False)
        def web_app(request: Request[Any, Any, Any], path: FromPath[str] = "") -> Response[bytes]:
            return self._answer(request, path.lstrip("/"))

        return web_app

    def _answer(self, request: Request[Any, Any, Any], path: str) -> Response[bytes]:
        file = self._files.get(path)
        if file is None:
            # A missing file must not answer with the page; a profile's name may hold a dot as well.
            is_file = "." in path.rsplit("/", 1)[-1] and not path.startswith("@")
            if path.startswith(API_PREFIXES) or is_file:
                raise NotFoundException("There is nothing at this address.")
            file = self._page
        if request.headers.get("if-none-match") == file.etag:
            return Response(b"", status_code=304, headers=file.headers)
        accepted = request.headers.get("accept-encoding", "")
        for encoding, content in file.encoded.items():
            if encoding in accepted:
                headers = file.headers | {"Content-Encoding": encoding}
                return Response(content, media_type=file.media_type, headers=headers)
        return Response(file.content, media_type=file.media_type, headers=file.headers)


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
        _headers(content, FOR_EVER if is_asset else ALWAYS_ASK) | _policy(content, media_type),
    )


def _encodings(path: Path, content: bytes) -> dict[str, bytes]:
    squeezed = path.with_name(path.name + SQUEEZED)
    found = {"br": squeezed.read_bytes()} if squeezed.is_file() else {}
    return found | {"gzip": gzip.compress(content, 9, mtime=0)}


def _headers(content: bytes, cache_control: str) -> dict[str, str]:
    etag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
    return {"ETag": etag, "Cache-Control": cache_control, "Vary": "Accept-Encoding"}


def _policy(content: bytes, media_type: str) -> dict[str, str]:
    """The site's policy, with the scripts that this very page holds; none for anything but a page."""
    if media_type != "text/html":
        return {}
    digests = [
        base64.b64encode(hashlib.sha256(each).digest()).decode() for each in OWN_SCRIPT.findall(content)
    ]
    allowed = " ".join(["script-src 'self'", *(f"'sha256-{digest}'" for digest in digests)])
    return {"Content-Security-Policy": CONTENT_POLICY.replace("script-src 'self'", allowed)}


def _not_built() -> StaticFile:
    return StaticFile(NOT_BUILT, {}, "text/html", _headers(NOT_BUILT, ALWAYS_ASK))
