"""Uploads of photos and videos over HTTP, and what their owners see of them."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from litestar import Controller, Request, delete, get, post
from litestar.openapi.spec import OpenAPIMediaType, OpenAPIType, Operation, RequestBody, Schema
from litestar.params import JSONBody
from litestar.response import Stream

from tintype.api.http import scopes
from tintype.api.http.dependencies import InjectedRooms, PathId, Viewer, parse_media_id
from tintype.api.http.multipart import MAX_FORM_BYTES, FileForm, FormInvalid, body_chunks
from tintype.api.views.media import PresignedView, UploadedView, show_uploaded
from tintype.media import MediaKind, UploadOptions

ContentType = Literal[
    "image/jpeg", "image/png", "image/webp", "image/heic", "image/heif", "video/mp4", "video/quicktime"
]


class NewPresigned(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file that will be uploaded to the object store."""

    size_bytes: Annotated[int, msgspec.Meta(ge=1, le=2**40)]
    content_type: ContentType
    kind: MediaKind = "post"
    keep_location: bool = False
    edit: dict[str, Any] | None = None


class NewMediaEdit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The edit to apply to the original photo; null for none."""

    edit: dict[str, Any] | None = None


@dataclass
class UploadOperation(Operation):
    """Describes the form in OpenAPI: it is streamed, so it is not a parameter of the route."""

    def __post_init__(self) -> None:
        """Add the fields of the form as the request body."""
        text = Schema(type=OpenAPIType.STRING)
        fields: Any = {
            "file": Schema(type=OpenAPIType.STRING, content_media_type="application/octet-stream"),
            "media_type": Schema(type=OpenAPIType.STRING, enum=["image", "video", "audio"]),
            "kind": Schema(type=OpenAPIType.STRING, enum=["post", "avatar", "story", "voice"]),
            "edit": text,
            "filter_id": text,
            "keep_location": text,
        }
        form = Schema(type=OpenAPIType.OBJECT, properties=fields, required=["file"])
        self.request_body = RequestBody({"multipart/form-data": OpenAPIMediaType(schema=form)}, required=True)


class MediaApi(Controller):
    """The viewer's uploads."""

    path = "/api/v1/media"
    tags = ("Media",)

    @post(
        "/upload",
        summary="Upload a photo, a video or a voice message",
        request_max_body_size=None,
        operation_class=UploadOperation,
        scope=scopes.POSTS_WRITE,
    )
    async def upload(
        self, request: Request[Any, Any, Any], viewer: Viewer, rooms: InjectedRooms
    ) -> UploadedView:
        """Upload a photo or video; unless it is posted within 24 hours, it is deleted.

        A photo is ready at once. A video has its poster at once and is converted in the background. With the kind
        `voice`, a recording for a direct message: WebM, Ogg or MP4, at most five minutes.
        """
        announced_bytes = int(request.headers.get("content-length", "0"))
        await rooms.media.usage.check(viewer.id, "image", max(0, announced_bytes - MAX_FORM_BYTES))
        with rooms.media.spool() as spool:
            form = FileForm(request.headers.get("content-type", ""), spool)
            await form.read(body_chunks(request, max_bytes=rooms.media.max_upload_bytes + MAX_FORM_BYTES))
            options = parse_upload_options(form.fields)
            declared_type = form.fields.get("media_type")
            media = await rooms.media.upload(viewer.id, spool.path, options, declared_type=declared_type)
        return await show_uploaded(media, rooms)

    @get("/{media_id:str}", summary="One of your media", scope=scopes.READ)
    async def one(self, media_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> UploadedView:
        """Its state, its progress, and the URLs of its files."""
        media = await rooms.media.get(parse_media_id(media_id), owner=viewer.id)
        return await show_uploaded(media, rooms)

    @delete("/{media_id:str}", summary="Delete an upload that is not posted", scope=scopes.POSTS_WRITE)
    async def discard(self, media_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Delete an upload and its files at once."""
        await rooms.media.discard(parse_media_id(media_id), owner=viewer.id)

    @get(
        "/{media_id:str}/original",
        summary="The file as you sent it",
        scope=scopes.READ,
        media_type="application/octet-stream",
    )
    async def original(self, media_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> Stream:
        """The original file, for its owner alone."""
        opened = await rooms.media.open_original(parse_media_id(media_id), owner=viewer.id)
        headers = {
            "Content-Length": str(opened.size_bytes),
            "Content-Disposition": f'attachment; filename="{media_id}"',
            "Cache-Control": "private, no-store",
        }
        return Stream(opened.chunks, media_type="application/octet-stream", headers=headers)

    @post("/{media_id:str}/edits", summary="Edit a photo", scope=scopes.POSTS_WRITE)
    async def edit(
        self, media_id: PathId, data: JSONBody[NewMediaEdit], viewer: Viewer, rooms: InjectedRooms
    ) -> UploadedView:
        """Create a new upload from the original of this one, which stays as it is.

        Not found where the original was not kept: then upload the file again, with its edit.
        """
        edit = msgspec.Raw(msgspec.json.encode(data.edit))
        made = await rooms.media.edit(parse_media_id(media_id), edit, owner=viewer.id)
        return await show_uploaded(made, rooms)

    @get("/{media_id:str}/exif", summary="EXIF data", scope=scopes.READ)
    async def exif(self, media_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> dict[str, Any]:
        """EXIF data, for the owner alone; with the location only if `keep_location` was set."""
        found = await rooms.media.read_exif(parse_media_id(media_id), owner=viewer.id)
        return msgspec.json.decode(found, type=dict[str, Any])

    @post("/presigned", summary="Presign an upload", scope=scopes.POSTS_WRITE)
    async def presign(
        self, data: JSONBody[NewPresigned], viewer: Viewer, rooms: InjectedRooms
    ) -> PresignedView:
        """A presigned URL to upload this file to; only where media is stored in S3."""
        options = UploadOptions(
            kind=data.kind, keep_location=data.keep_location, edit=msgspec.Raw(msgspec.json.encode(data.edit))
        )
        upload, presigned = await rooms.media.uploads.presign(
            viewer.id, data.size_bytes, data.content_type, options
        )
        return PresignedView(str(upload.id), presigned, upload.expires_at)

    @post(
        "/presigned/{media_id:str}/complete",
        summary="Complete a presigned upload",
        scope=scopes.POSTS_WRITE,
    )
    async def complete(self, media_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> UploadedView:
        """Process the file that was uploaded. Safe to repeat."""
        media = await rooms.media.uploads.finish(parse_media_id(media_id), owner=viewer.id)
        return await show_uploaded(media, rooms)


def parse_upload_options(fields: dict[str, str]) -> UploadOptions:
    """Upload options from the fields of a form, or from the metadata of a tus upload."""
    try:
        return UploadOptions.from_fields(fields)
    except ValueError as error:
        raise FormInvalid(str(error)) from error
