"""Serves the built web app with the caching each of its files can bear.

Files under /assets/ carry a hash in their name, so they never change; everything else is the app's one page,
whatever the address, because the app routes by itself.
"""

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litestar import Request, Response, get
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

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


@dataclass(frozen=True)
class StaticFile:
    """A file in memory, plain and compressed."""

    content: bytes
    zipped: bytes | None
    media_type: str
    etag: str
    cache_control: str


class WebApp:
    """The built files, read once."""

    def __init__(self, folder: Path) -> None:
        self._files = {
            path.relative_to(folder).as_posix(): _load(path, folder)
            for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.name.startswith(".")
        }

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
            file = self._files.get("index.html") or StaticFile(
                NOT_BUILT, None, "text/html", '"none"', ALWAYS_ASK
            )
        headers = {"ETag": file.etag, "Cache-Control": file.cache_control, "Vary": "Accept-Encoding"}
        if request.headers.get("if-none-match") == file.etag:
            return Response(b"", status_code=304, headers=headers)
        if file.zipped and "gzip" in request.headers.get("accept-encoding", ""):
            return Response(
                file.zipped, media_type=file.media_type, headers=headers | {"Content-Encoding": "gzip"}
            )
        return Response(file.content, media_type=file.media_type, headers=headers)


def _load(path: Path, folder: Path) -> StaticFile:
    content = path.read_bytes()
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    if path.suffix == ".webmanifest":
        media_type = "application/manifest+json"
    is_text = media_type.startswith(COMPRESSIBLE)
    return StaticFile(
        content,
        gzip.compress(content, 9, mtime=0) if is_text else None,
        media_type + ("; charset=utf-8" if is_text else ""),
        f'"{hashlib.sha256(content).hexdigest()[:20]}"',
        FOR_EVER if path.relative_to(folder).parts[0] == "assets" else ALWAYS_ASK,
    )
