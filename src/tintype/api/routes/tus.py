"""Resumable uploads by the tus protocol, version 1.0.0 (https://tus.io/protocols/resumable-upload).

With the extensions creation, creation-with-upload, expiration, checksum and termination. The id of an upload is also
the id of its media; the response to the last bytes has it as `Media-Id`.
"""

from collections.abc import AsyncIterator
from datetime import UTC
from email.utils import format_datetime
from typing import Any

from litestar import Controller, Request, Response, delete, get, head, patch, post

from tintype.api.http import scopes
from tintype.api.http.dependencies import InjectedRooms, PathId, Viewer, parse_media_id
from tintype.api.http.multipart import body_chunks
from tintype.api.http.tus import (
    TUS_ERROR_HANDLERS,
    has_bytes,
    protocol_check,
    read_metadata,
    read_number,
    refuse_type,
    respond,
)
from tintype.api.routes.media import UploadedView, parse_upload_options, show_uploaded
from tintype.media import ALGORITHMS, Checksum, ResumableUpload
from tintype.wiring import Rooms

EXTENSIONS = "creation,creation-with-upload,expiration,checksum,termination"


def _capabilities(rooms: Rooms) -> dict[str, str]:
    return {
        "Tus-Extension": EXTENSIONS,
        "Tus-Max-Size": str(rooms.media.max_upload_bytes),
        "Tus-Checksum-Algorithm": ",".join(ALGORITHMS),
    }


class TusApi(Controller):
    """Resumable uploads."""

    path = "/api/v1/media/tus"
    tags = ("Media",)
    before_request = protocol_check(_capabilities)
    exception_handlers = TUS_ERROR_HANDLERS

    @post("/", summary="Begin a resumable upload", request_max_body_size=None, scope=scopes.POSTS_WRITE)
    async def begin(
        self, request: Request[Any, Any, Any], viewer: Viewer, rooms: InjectedRooms
    ) -> Response[None]:
        """Start an upload of `Upload-Length` bytes; the body may contain the first of them."""
        metadata = request.headers.get("upload-metadata", "")
        options = parse_upload_options(read_metadata(metadata))
        size_bytes = read_number(request, "upload-length")
        upload = await rooms.media.uploads.begin(viewer.id, size_bytes, options, metadata=metadata)
        location = {"Location": f"/api/v1/media/tus/{upload.id}"}
        if not has_bytes(request):
            return respond(201, location | _progress_headers(upload, 0))
        return await _receive(request, rooms, upload, at=0, status=201, headers=location)

    @head("/{upload_id:str}", summary="The offset of an upload", scope=scopes.POSTS_WRITE)
    async def offset(self, upload_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> Response[None]:
        """How many bytes have been stored."""
        upload = await _find(upload_id, viewer.id, rooms)
        metadata = {"Upload-Metadata": upload.metadata} if upload.metadata else {}
        sizes = {"Upload-Length": str(upload.size_bytes), "Cache-Control": "no-store"}
        return respond(200, _progress_headers(upload, upload.received_bytes) | sizes | metadata)

    @patch(
        "/{upload_id:str}",
        summary="Send bytes",
        status_code=204,
        request_max_body_size=None,
        scope=scopes.POSTS_WRITE,
    )
    async def send(
        self, request: Request[Any, Any, Any], upload_id: PathId, viewer: Viewer, rooms: InjectedRooms
    ) -> Response[None]:
        """Append bytes at `Upload-Offset`; what arrived before a broken connection is kept."""
        if not has_bytes(request):
            return refuse_type()
        upload = await _find(upload_id, viewer.id, rooms)
        return await _receive(
            request, rooms, upload, at=read_number(request, "upload-offset"), status=204, headers={}
        )

    @delete("/{upload_id:str}", summary="Cancel an upload", scope=scopes.POSTS_WRITE)
    async def cancel(self, upload_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> Response[None]:
        """Cancel an upload and delete its bytes."""
        await rooms.media.uploads.cancel(parse_media_id(upload_id), owner=viewer.id)
        return respond(204, {})

    @get("/{upload_id:str}", summary="The media of an upload", scope=scopes.POSTS_WRITE)
    async def result(self, upload_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> UploadedView:
        """The media of a complete upload; processed now if the last response was lost."""
        media = await rooms.media.uploads.finish(parse_media_id(upload_id), owner=viewer.id)
        return await show_uploaded(media, rooms)


async def _find(upload_id: str, owner: Any, rooms: Rooms) -> ResumableUpload:
    return await rooms.media.uploads.get(parse_media_id(upload_id), owner=owner)


async def _receive(
    request: Request[Any, Any, Any],
    rooms: Rooms,
    upload: ResumableUpload,
    *,
    at: int,
    status: int,
    headers: dict[str, str],
) -> Response[None]:
    declared = request.headers.get("upload-checksum")
    checksum = Checksum.parse(declared) if declared else None
    chunks: AsyncIterator[bytes] = body_chunks(request, max_bytes=upload.size_bytes + 1)
    offset = await rooms.media.uploads.receive(upload, at, chunks, checksum)
    headers |= _progress_headers(upload, offset)
    if offset == upload.size_bytes:
        media = await rooms.media.uploads.finish(upload.id, owner=upload.account_id)
        headers |= {"Media-Id": str(media.id)}
    return respond(status, headers)


def _progress_headers(upload: ResumableUpload, at: int) -> dict[str, str]:
    expires = format_datetime(upload.expires_at.astimezone(UTC), usegmt=True)
    return {"Upload-Offset": str(at), "Upload-Expires": expires}
