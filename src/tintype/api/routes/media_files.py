"""Serves media files: ranges, conditional requests, formats by `Accept`, and caching for CDNs (RFC 9110, 9111).

Plain ASGI, because this is the most used route and its responses are streamed.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any

from litestar import Request, route
from litestar.datastructures import Headers
from litestar.enums import HttpMethod
from litestar.params import FromPath
from litestar.types import ASGIApp, Receive, Scope, Send

from tintype.api.http.authentication import Authenticator
from tintype.api.http.dependencies import InjectedRooms
from tintype.media import MediaFile, MediaLibrary, MediaNotFound

RANGE = re.compile(r"bytes=(?P<first>[0-9]{0,18})-(?P<last>[0-9]{0,18})", re.ASCII)
POLICY = "default-src 'none'; sandbox"


@dataclass(frozen=True)
class ByteRange:
    """The bytes to send; `end` is not included."""

    first: int
    end: int


class RangeNotSatisfiable(Exception):
    """The requested range is outside the file."""


@route("/media/{path:path}", http_method=[HttpMethod.GET, HttpMethod.HEAD], include_in_schema=False)
async def media_file(request: Request[Any, Any, Any], path: FromPath[str], rooms: InjectedRooms) -> ASGIApp:
    """One file of a picture or video."""
    headers = request.headers
    file = await _find_file(request, rooms.media, path.lstrip("/"))

    async def answer(_scope: Scope, _receive: Receive, send: Send) -> None:
        if _is_unchanged(file, headers):
            await _send_head(send, 304, _common(file))
            await _send_body(send, None)
        else:
            await _send_file(rooms.media, file, headers, send, is_head=request.method == "HEAD")

    return answer


async def _find_file(request: Request[Any, Any, Any], media: MediaLibrary, path: str) -> MediaFile:
    """The file, if anybody may open it by this path, or if the request is its owner's.

    Credentials are looked at only where the file does not open without them: most requests have none, or no use for
    them.
    """
    accept = request.headers.get("accept", "")
    try:
        return await media.find_file(path, accept)
    except MediaNotFound:
        authenticator: Authenticator = request.app.state.authenticator
        reader = await authenticator.find_reader(request)
        if reader is None:
            raise
        return await media.find_file(path, accept, reader=reader)


async def _send_file(
    media: MediaLibrary, file: MediaFile, headers: Headers, send: Send, *, is_head: bool
) -> None:
    wanted = headers.get("range") if _may_range(file, headers) else None
    common = _common(file) | {"Content-Type": file.media_type, "Accept-Ranges": "bytes"}
    if wanted is None and not is_head:
        opened = await media.open_file(file)
        await _send_head(send, 200, common | {"Content-Length": str(opened.size_bytes)})
        await _send_body(send, opened.chunks)
        return
    file, size_bytes = await media.locate_file(file)
    try:
        part = _part(wanted or "", size_bytes)
    except RangeNotSatisfiable:
        await _send_head(send, 416, _common(file) | {"Content-Range": f"bytes */{size_bytes}"})
        await _send_body(send, None)
        return
    status = 200 if part is None else 206
    chosen = part or ByteRange(0, size_bytes)
    if part is not None:
        common["Content-Range"] = f"bytes {part.first}-{part.end - 1}/{size_bytes}"
    opened = None if is_head else await media.open_file(file, (chosen.first, chosen.end) if part else None)
    await _send_head(send, status, common | {"Content-Length": str(chosen.end - chosen.first)})
    await _send_body(send, opened.chunks if opened else None)


async def _send_head(send: Send, status: int, headers: dict[str, str]) -> None:
    raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})


async def _send_body(send: Send, chunks: Any) -> None:
    if chunks is not None:
        async for chunk in chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _common(file: MediaFile) -> dict[str, str]:
    found = {
        "ETag": file.etag,
        "Last-Modified": format_datetime(file.modified_at.astimezone(UTC), usegmt=True),
        "Cache-Control": file.cache_control,
        "Content-Security-Policy": POLICY,
    }
    if file.download_name is not None:
        found["Content-Disposition"] = f'attachment; filename="{file.download_name}"'
    if file.tags:
        found |= {"Cache-Tag": ",".join(file.tags), "Surrogate-Key": " ".join(file.tags)}
    return found | ({"Vary": "Accept"} if file.is_negotiated else {})


def _is_unchanged(file: MediaFile, headers: Headers) -> bool:
    """Whether to answer 304. If-None-Match takes precedence over If-Modified-Since."""
    known = headers.get("if-none-match")
    if known is not None:
        tags = {tag.strip().removeprefix("W/") for tag in known.split(",")}
        return "*" in tags or file.etag in tags
    since = _date(headers.get("if-modified-since", ""))
    return since is not None and file.modified_at <= since


def _may_range(file: MediaFile, headers: Headers) -> bool:
    """If-Range: a range only of the same version of the file that the client has."""
    known = headers.get("if-range")
    if known is None:
        return True
    return known == file.etag or _date(known) == file.modified_at


def _part(wanted: str, size_bytes: int) -> ByteRange | None:
    """The requested range; None for the whole file, also where several ranges or another unit are requested."""
    named = RANGE.fullmatch(wanted.replace(" ", ""))
    if named is None or (not named["first"] and not named["last"]):
        return None
    if not named["first"]:
        length = int(named["last"])
        if length == 0:
            raise RangeNotSatisfiable
        return ByteRange(max(0, size_bytes - length), size_bytes)
    first = int(named["first"])
    last = int(named["last"]) if named["last"] else size_bytes - 1
    if first > last and named["last"]:
        return None  # invalid, which RFC 9110 says to ignore
    if first >= size_bytes:
        raise RangeNotSatisfiable
    return ByteRange(first, min(last + 1, size_bytes))


def _date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
