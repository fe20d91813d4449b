"""Uploading photos and videos over HTTP, and what their owners can ask about them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from litestar import Controller, Request, delete, get, post
from litestar.openapi.spec import OpenAPIMediaType, OpenAPIType, Operation, RequestBody, Schema
from litestar.params import JSONBody
from litestar.response import Stream

from tintype.api import scopes
from tintype.api.given import House, PathId, Viewer, id_from
from tintype.api.multipart import MOST_FORM_BYTES, FileForm, FormInvalid, chunks_of
from tintype.base.ids import MediaId
from tintype.media import Addresses, Media, MediaKind, MediaRefused, MediaState, MediaType, Presigned, Wish
from tintype.wiring import Rooms

TRUE = frozenset({"1", "true", "yes", "on"})
ContentType = Literal[
    "image/jpeg", "image/png", "image/webp", "image/heic", "image/heif", "video/mp4", "video/quicktime"
]


class UploadedView(msgspec.Struct, frozen=True):
    """A picture or clip as its owner sees it; unposted ones are purged at `expires_at`."""

    media_id: str
    type: MediaType
    state: MediaState
    progress: int
    error: str | None
    urls: dict[str, str]
    squares: dict[str, str]
    video_url: str | None
    hls_url: str | None
    width: int
    height: int
    duration_ms: int | None
    placeholder: str | None
    expires_at: datetime | None


class NewPresigned(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What will be put into the store."""

    size_bytes: Annotated[int, msgspec.Meta(ge=1, le=2**40)]
    content_type: ContentType
    kind: MediaKind = "post"
    keep_location: bool = False
    edit: dict[str, Any] | None = None


class EditBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to do to the photo as it was sent; null takes every edit back."""

    edit: dict[str, Any] | None = None


class PresignedView(msgspec.Struct, frozen=True):
    """Put the file there, with these headers, then complete."""

    media_id: str
    upload: Presigned
    expires_at: datetime


@dataclass
class UploadOperation(Operation):
    """Describes the form, which is read as it arrives and so is no parameter of the route."""

    def __post_init__(self) -> None:
        """Tell what the form holds."""
        text = Schema(type=OpenAPIType.STRING)
        fields: Any = {
            "file": Schema(type=OpenAPIType.STRING, content_media_type="application/octet-stream"),
            "media_type": Schema(type=OpenAPIType.STRING, enum=["image", "video"]),
            "kind": Schema(type=OpenAPIType.STRING, enum=["post", "avatar", "story"]),
            "edit": text,
            "filter_id": text,
            "keep_location": text,
        }
        form = Schema(type=OpenAPIType.OBJECT, properties=fields, required=["file"])
        self.request_body = RequestBody({"multipart/form-data": OpenAPIMediaType(schema=form)}, required=True)


class MediaApi(Controller):
    """Media of the one who asks."""

    path = "/api/v1/media"
    tags = ("Media",)

    @post(
        "/upload",
        summary="Upload a photo or a video",
        request_max_body_size=None,
        operation_class=UploadOperation,
        scope=scopes.POSTS_WRITE,
    )
    async def upload(self, request: Request[Any, Any, Any], viewer: Viewer, rooms: House) -> UploadedView:
        """Take a photo or video in; it must be posted within 24 hours.

        A photo is ready when this answers. A video answers with its poster and is converted afterwards.
        """
        with rooms.media.spool() as spool:
            form = FileForm(request.headers.get("content-type", ""), spool)
            await form.read(chunks_of(request, at_most=rooms.media.most_bytes + MOST_FORM_BYTES))
            if form.fields.get("media_type", rooms.media.type_of(spool.path)) != rooms.media.type_of(
                spool.path
            ):
                raise MediaRefused("The file is not of the type that was said.")
            media = await rooms.media.upload(viewer.id, spool.path, wish_from(form.fields))
        return await show_uploaded(media, rooms)

    @get("/{media_id:str}", summary="One of your media", scope=scopes.READ)
    async def one(self, media_id: PathId, viewer: Viewer, rooms: House) -> UploadedView:
        """How far it is, and where it is served."""
        media = await rooms.media.get(MediaId(id_from(media_id)), owner=viewer.id)
        return await show_uploaded(media, rooms)

    @delete("/{media_id:str}", summary="Delete an upload that is not posted", scope=scopes.POSTS_WRITE)
    async def drop(self, media_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Gone at once, files and all."""
        await rooms.media.drop(MediaId(id_from(media_id)), owner=viewer.id)

    @get(
        "/{media_id:str}/original",
        summary="The file as you sent it",
        scope=scopes.READ,
        media_type="application/octet-stream",
    )
    async def original(self, media_id: PathId, viewer: Viewer, rooms: House) -> Stream:
        """The raw original, for its owner alone."""
        opened = await rooms.media.open_original(MediaId(id_from(media_id)), owner=viewer.id)
        headers = {
            "Content-Length": str(opened.size_bytes),
            "Content-Disposition": f'attachment; filename="{media_id}"',
            "Cache-Control": "private, no-store",
        }
        return Stream(opened.chunks, media_type="application/octet-stream", headers=headers)

    @post("/{media_id:str}/edits", summary="Edit a photo", scope=scopes.POSTS_WRITE)
    async def edit(
        self, media_id: PathId, data: JSONBody[EditBody], viewer: Viewer, rooms: House
    ) -> UploadedView:
        """A new upload, made of the original of this one, so that nothing is sent twice; this one stays as it is.

        Not found where the original could not be kept: then send the file again, with its edit.
        """
        wished = msgspec.Raw(msgspec.json.encode(data.edit))
        made = await rooms.media.edit(MediaId(id_from(media_id)), wished, owner=viewer.id)
        return await show_uploaded(made, rooms)

    @get("/{media_id:str}/exif", summary="What the camera wrote", scope=scopes.READ)
    async def exif(self, media_id: PathId, viewer: Viewer, rooms: House) -> dict[str, Any]:
        """EXIF, for the owner alone; with the location only if that was asked for when uploading."""
        found = await rooms.media.read_exif(MediaId(id_from(media_id)), owner=viewer.id)
        return msgspec.json.decode(found, type=dict[str, Any])

    @post("/presigned", summary="Upload straight into the store", scope=scopes.POSTS_WRITE)
    async def presign(self, data: JSONBody[NewPresigned], viewer: Viewer, rooms: House) -> PresignedView:
        """An address of the store that takes exactly this file; only where media are kept in S3."""
        wish = Wish(
            kind=data.kind, keep_location=data.keep_location, edit=msgspec.Raw(msgspec.json.encode(data.edit))
        )
        upload, presigned = await rooms.media_room.uploads.presign(
            viewer.id, data.size_bytes, data.content_type, wish
        )
        return PresignedView(str(upload.id), presigned, upload.expires_at)

    @post(
        "/presigned/{media_id:str}/complete",
        summary="Complete an upload into the store",
        scope=scopes.POSTS_WRITE,
    )
    async def complete(self, media_id: PathId, viewer: Viewer, rooms: House) -> UploadedView:
        """The file is there: make the media of it. Safe to repeat."""
        media = await rooms.media_room.uploads.finish(MediaId(id_from(media_id)), owner=viewer.id)
        return await show_uploaded(media, rooms)


def wish_from(fields: dict[str, str]) -> Wish:
    """What the fields of a form, or the metadata of a tus upload, ask for."""
    edit = fields.get("edit") or "null"
    if edit == "null" and fields.get("filter_id"):
        edit = msgspec.json.encode({"look": fields["filter_id"]}).decode()
    try:
        msgspec.json.decode(edit)
        kind = msgspec.convert(fields.get("kind") or "post", MediaKind)
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError) as error:
        raise FormInvalid("`edit` is JSON, and `kind` is post, avatar or story.") from error
    keep_location = fields.get("keep_location", "").lower() in TRUE
    return Wish(kind=kind, keep_location=keep_location, edit=msgspec.Raw(edit.encode()))


async def show_uploaded(media: Media, rooms: Rooms) -> UploadedView:
    """Media for their owner, who can open them also while the account is private."""
    signed = await rooms.media.is_private(media.account_id)
    at: Addresses = rooms.media.addresses
    is_playable = media.type == "video" and media.state == "ready"
    return UploadedView(
        media_id=str(media.id),
        type=media.type,
        state=media.state,
        progress=media.progress,
        error=media.error or None,
        urls=at.of_pictures(media.folder, signed=signed),
        squares=at.of_squares(media.folder, signed=signed),
        video_url=at.of_video(media.folder, signed=signed) if is_playable else None,
        hls_url=at.of_playlist(media.folder, signed=signed) if is_playable and media.has_hls else None,
        width=media.width,
        height=media.height,
        duration_ms=media.duration_ms,
        placeholder=media.placeholder,
        expires_at=media.expires_at,
    )
