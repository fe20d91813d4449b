"""Resumable uploads by the tus protocol, version 1.0.0 (https://tus.io/protocols/resumable-upload).

With the extensions creation, creation-with-upload, expiration, checksum and termination. The id of an upload is also
the id of its media; the response to the last bytes has it as `Media-Id`.
"""

import base64
import binascii
from collections.abc import AsyncIterator
from datetime import UTC
from email.utils import format_datetime
from typing import Any, cast

from litestar import Controller, Request, Response, delete, get, head, patch, post

from tintype.api.http import scopes
from tintype.api.http.authentication import check_credentials
from tintype.api.http.dependencies import InjectedRooms, PathId, Viewer, parse_media_id
from tintype.api.http.multipart import body_chunks
from tintype.api.http.problems import Problem, on_error, problem
from tintype.api.routes.media import UploadedView, parse_upload_options, show_uploaded
from tintype.base.errors import Invalid, TintypeError
from tintype.media import ALGORITHMS, Checksum, ResumableUpload
from tintype.wiring import Rooms

VERSION = "1.0.0"
CONTENT_TYPE = "application/offset+octet-stream"
EXTENSIONS = "creation,creation-with-upload,expiration,checksum,termination"
MAX_METADATA_LENGTH = 8 * 1024
MAX_DECLARED_BYTES = 2**40


class TusHeaderWrong(Invalid):
    """A header of the tus protocol is missing or invalid."""

    code = "tus_header_wrong"


def on_tus_error(request: Request[Any, Any, Any], error: TintypeError) -> Response[Problem]:
    """The usual error response, with the header that every tus response has."""
    answer = on_error(request, error)
    answer.headers["Tus-Resumable"] = VERSION
    return answer


ERROR_HANDLERS: Any = {TintypeError: on_tus_error}  # the framework's own type of this is partly unknown


async def check_protocol(request: Request[Any, Any, Any]) -> Response[Any] | None:
    """Answer OPTIONS with the server's capabilities, and refuse other versions of the protocol.

    A hook, because the framework answers OPTIONS itself, before any route.
    """
    if request.method == "OPTIONS":
        rooms: Rooms = request.app.state.rooms
        headers = {
            "Tus-Version": VERSION,
            "Tus-Extension": EXTENSIONS,
            "Tus-Max-Size": str(rooms.media.max_upload_bytes),
            "Tus-Checksum-Algorithm": ",".join(ALGORITHMS),
        }
        return _respond(204, headers)
    await check_credentials(request)  # this hook replaces the one that all other routes have
    if request.method != "GET" and request.headers.get("tus-resumable") != VERSION:
        versions = {"Tus-Resumable": VERSION, "Tus-Version": VERSION}
        return problem(
            412, "tus_version_wrong", "This server supports tus 1.0.0: send `Tus-Resumable: 1.0.0`.", versions
        )
    return None


class TusApi(Controller):
    """Resumable uploads."""

    path = "/api/v1/media/tus"
    tags = ("Media",)
    before_request = check_protocol
    exception_handlers = ERROR_HANDLERS

    @post("/", summary="Begin a resumable upload", request_max_body_size=None, scope=scopes.POSTS_WRITE)
    async def begin(
        self, request: Request[Any, Any, Any], viewer: Viewer, rooms: InjectedRooms
    ) -> Response[None]:
        """Start an upload of `Upload-Length` bytes; the body may contain the first of them."""
        metadata = request.headers.get("upload-metadata", "")
        options = parse_upload_options(_metadata(metadata))
        size_bytes = _number(request, "upload-length")
        has_bytes = request.headers.get("content-type", "").startswith(CONTENT_TYPE)
        upload = await rooms.media.uploads.begin(viewer.id, size_bytes, options, metadata=metadata)
        location = {"Location": f"/api/v1/media/tus/{upload.id}"}
        if not has_bytes:
            return _respond(201, location | _progress_headers(upload, 0))
        return await _receive(request, rooms, upload, at=0, status=201, headers=location)

    @head("/{upload_id:str}", summary="The offset of an upload", scope=scopes.POSTS_WRITE)
    async def offset(self, upload_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> Response[None]:
        """How many bytes have been stored."""
        upload = await _find(upload_id, viewer.id, rooms)
        metadata = {"Upload-Metadata": upload.metadata} if upload.metadata else {}
        sizes = {"Upload-Length": str(upload.size_bytes), "Cache-Control": "no-store"}
        return _respond(200, _progress_headers(upload, upload.received_bytes) | sizes | metadata)

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
        if not request.headers.get("content-type", "").startswith(CONTENT_TYPE):
            error = problem(
                415, "tus_type_wrong", f"Send the bytes as {CONTENT_TYPE}.", {"Tus-Resumable": VERSION}
            )
            return cast("Response[None]", error)  # OpenAPI describes the successful response
        upload = await _find(upload_id, viewer.id, rooms)
        return await _receive(
            request, rooms, upload, at=_number(request, "upload-offset"), status=204, headers={}
        )

    @delete("/{upload_id:str}", summary="Cancel an upload", scope=scopes.POSTS_WRITE)
    async def cancel(self, upload_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> Response[None]:
        """Cancel an upload and delete its bytes."""
        await rooms.media.uploads.cancel(parse_media_id(upload_id), owner=viewer.id)
        return _respond(204, {})

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
    return _respond(status, headers)


def _respond(status: int, headers: dict[str, str]) -> Response[None]:
    return Response(None, status_code=status, headers={"Tus-Resumable": VERSION, **headers})


def _progress_headers(upload: ResumableUpload, at: int) -> dict[str, str]:
    expires = format_datetime(upload.expires_at.astimezone(UTC), usegmt=True)
    return {"Upload-Offset": str(at), "Upload-Expires": expires}


def _number(request: Request[Any, Any, Any], name: str) -> int:
    text = request.headers.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= 16 and int(text) <= MAX_DECLARED_BYTES):  # noqa: PLR2004 - 2^40 has 13 digits
        raise TusHeaderWrong(f"The header {name.title()} must be a number of bytes.")
    return int(text)


def _metadata(header: str) -> dict[str, str]:
    """Parse `key base64, key base64`. File names and types in it are not trusted."""
    if len(header) > MAX_METADATA_LENGTH:
        raise TusHeaderWrong("Upload-Metadata is too long.")
    found: dict[str, str] = {}
    for pair in filter(None, (part.strip() for part in header.split(","))):
        key, _, value = pair.partition(" ")
        try:
            found[key] = base64.b64decode(value.strip(), validate=True).decode()
        except (binascii.Error, ValueError) as error:
            raise TusHeaderWrong("Upload-Metadata is not in Base64.") from error
    return found
