"""Resumable uploads by the tus protocol, version 1.0.0 (https://tus.io/protocols/resumable-upload).

With the extensions creation, creation-with-upload, expiration, checksum and termination. The id of an upload is the id
of the media it becomes; when the last byte has arrived, the answer carries it as `Media-Id`.
"""

import base64
import binascii
from collections.abc import AsyncIterator
from datetime import UTC
from email.utils import format_datetime
from typing import Any, cast

from litestar import Controller, Request, Response, delete, get, head, patch, post

from tintype.api import scopes
from tintype.api.given import House, PathId, Viewer, id_from
from tintype.api.media import UploadedView, show_uploaded, wish_from
from tintype.api.multipart import chunks_of
from tintype.api.problems import Problem, on_refusal, problem
from tintype.api.session import check_credentials
from tintype.base.errors import Invalid, TintypeError
from tintype.base.ids import MediaId
from tintype.media import ALGORITHMS, Checksum, Upload
from tintype.wiring import Rooms

VERSION = "1.0.0"
CONTENT_TYPE = "application/offset+octet-stream"
EXTENSIONS = "creation,creation-with-upload,expiration,checksum,termination"
LONGEST_METADATA = 8 * 1024
MOST_BYTES_SAID = 2**40


class TusHeaderWrong(Invalid):
    """A header of the tus protocol is missing or cannot be read."""

    code = "tus_header_wrong"


def refuse(request: Request[Any, Any, Any], error: TintypeError) -> Response[Problem]:
    """A refusal as everywhere, with the header that every answer of this protocol carries."""
    answer = on_refusal(request, error)
    answer.headers["Tus-Resumable"] = VERSION
    return answer


REFUSALS: Any = {TintypeError: refuse}  # the framework's own type of this is partly unknown


async def greet(request: Request[Any, Any, Any]) -> Response[Any] | None:
    """Answer OPTIONS with what we can do, and let nobody in who speaks another version.

    A hook, because the framework answers OPTIONS by itself before any route of ours is asked.
    """
    if request.method == "OPTIONS":
        rooms: Rooms = request.app.state.rooms
        headers = {
            "Tus-Version": VERSION,
            "Tus-Extension": EXTENSIONS,
            "Tus-Max-Size": str(rooms.media.most_bytes),
            "Tus-Checksum-Algorithm": ",".join(ALGORITHMS),
        }
        return _answer(204, headers)
    await check_credentials(request)  # this hook stands in the place of the one that all other routes have
    if request.method != "GET" and request.headers.get("tus-resumable") != VERSION:
        said = {"Tus-Resumable": VERSION, "Tus-Version": VERSION}
        return problem(412, "tus_version_wrong", "We speak tus 1.0.0: send `Tus-Resumable: 1.0.0`.", said)
    return None


class TusApi(Controller):
    """Uploads that can be interrupted and taken up again."""

    path = "/api/v1/media/tus"
    tags = ("Media",)
    before_request = greet
    exception_handlers = REFUSALS

    @post("/", summary="Begin a resumable upload", request_max_body_size=None, scope=scopes.POSTS_WRITE)
    async def begin(self, request: Request[Any, Any, Any], viewer: Viewer, rooms: House) -> Response[None]:
        """An upload of `Upload-Length` bytes; the first of them may come along."""
        metadata = request.headers.get("upload-metadata", "")
        wish = wish_from(_metadata(metadata))
        size_bytes = _number(request, "upload-length")
        has_bytes = request.headers.get("content-type", "").startswith(CONTENT_TYPE)
        upload = await rooms.media_room.uploads.begin(viewer.id, size_bytes, wish, metadata=metadata)
        location = {"Location": f"/api/v1/media/tus/{upload.id}"}
        if not has_bytes:
            return _answer(201, location | _standing(upload, 0))
        return await _take(request, rooms, upload, at=0, status=201, headers=location)

    @head("/{upload_id:str}", summary="Where an upload stands", scope=scopes.POSTS_WRITE)
    async def standing(self, upload_id: PathId, viewer: Viewer, rooms: House) -> Response[None]:
        """How many bytes are safe."""
        upload = await _find(upload_id, viewer.id, rooms)
        said = {"Upload-Metadata": upload.metadata} if upload.metadata else {}
        sizes = {"Upload-Length": str(upload.size_bytes), "Cache-Control": "no-store"}
        return _answer(200, _standing(upload, upload.received_bytes) | sizes | said)

    @patch(
        "/{upload_id:str}",
        summary="Send bytes",
        status_code=204,
        request_max_body_size=None,
        scope=scopes.POSTS_WRITE,
    )
    async def send(
        self, request: Request[Any, Any, Any], upload_id: PathId, viewer: Viewer, rooms: House
    ) -> Response[None]:
        """Bytes from `Upload-Offset` on; what arrives before the line breaks counts."""
        if not request.headers.get("content-type", "").startswith(CONTENT_TYPE):
            said = {"Tus-Resumable": VERSION}
            refusal = problem(415, "tus_type_wrong", f"Send the bytes as {CONTENT_TYPE}.", said)
            return cast("Response[None]", refusal)  # what is described is the answer that took the bytes
        upload = await _find(upload_id, viewer.id, rooms)
        return await _take(
            request, rooms, upload, at=_number(request, "upload-offset"), status=204, headers={}
        )

    @delete("/{upload_id:str}", summary="End an upload", scope=scopes.POSTS_WRITE)
    async def end(self, upload_id: PathId, viewer: Viewer, rooms: House) -> Response[None]:
        """Its bytes are gone."""
        await rooms.media_room.uploads.drop(MediaId(id_from(upload_id)), owner=viewer.id)
        return _answer(204, {})

    @get("/{upload_id:str}", summary="What an upload became", scope=scopes.POSTS_WRITE)
    async def result(self, upload_id: PathId, viewer: Viewer, rooms: House) -> UploadedView:
        """The media of an upload whose bytes are all there, made now if the last answer was lost."""
        media = await rooms.media_room.uploads.finish(MediaId(id_from(upload_id)), owner=viewer.id)
        return await show_uploaded(media, rooms)


async def _find(upload_id: str, owner: Any, rooms: Rooms) -> Upload:
    return await rooms.media_room.uploads.get(MediaId(id_from(upload_id)), owner=owner)


async def _take(
    request: Request[Any, Any, Any],
    rooms: Rooms,
    upload: Upload,
    *,
    at: int,
    status: int,
    headers: dict[str, str],
) -> Response[None]:
    said = request.headers.get("upload-checksum")
    checksum = Checksum.parse(said) if said else None
    chunks: AsyncIterator[bytes] = chunks_of(request, at_most=upload.size_bytes + 1)
    now_at = await rooms.media_room.uploads.receive(upload, at, chunks, checksum)
    found = headers | _standing(upload, now_at)
    if now_at == upload.size_bytes:
        media = await rooms.media_room.uploads.finish(upload.id, owner=upload.account_id)
        found |= {"Media-Id": str(media.id)}
    return _answer(status, found)


def _answer(status: int, headers: dict[str, str]) -> Response[None]:
    return Response(None, status_code=status, headers={"Tus-Resumable": VERSION, **headers})


def _standing(upload: Upload, at: int) -> dict[str, str]:
    expires = format_datetime(upload.expires_at.astimezone(UTC), usegmt=True)
    return {"Upload-Offset": str(at), "Upload-Expires": expires}


def _number(request: Request[Any, Any, Any], name: str) -> int:
    text = request.headers.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= 16 and int(text) <= MOST_BYTES_SAID):  # noqa: PLR2004 - enough digits
        raise TusHeaderWrong(f"The header {name.title()} must be a number of bytes.")
    return int(text)


def _metadata(header: str) -> dict[str, str]:
    """`key base64, key base64`: what a client says about its file. Names and types in it are never believed."""
    if len(header) > LONGEST_METADATA:
        raise TusHeaderWrong("Upload-Metadata is too long.")
    found: dict[str, str] = {}
    for pair in filter(None, (part.strip() for part in header.split(","))):
        key, _, value = pair.partition(" ")
        try:
            found[key] = base64.b64decode(value.strip(), validate=True).decode()
        except (binascii.Error, ValueError) as error:
            raise TusHeaderWrong("Upload-Metadata is not in Base64.") from error
    return found
