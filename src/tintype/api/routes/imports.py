"""Imports of posts from elsewhere, over HTTP: begin, upload archives (tus), start, watch, cancel, read the report."""

from typing import Any

import msgspec
from litestar import Controller, Request, Response, delete, get, head, patch, post
from litestar.params import JSONBody

from tintype.api.http import scopes
from tintype.api.http.cursors import decode_compound_cursor, encode_compound_cursor
from tintype.api.http.dependencies import Cursor, InjectedRooms, PathId, Viewer, parse_id
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
from tintype.api.views.imports import (
    ImportReportView,
    ImportsView,
    ImportView,
    archive_url,
    show_import,
    show_line,
)
from tintype.imports import ImportRun, ImportSource, UploadedArchive
from tintype.wiring import Rooms

EXTENSIONS = "creation,creation-with-upload,termination"


class NewImport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the archives come from, and whether stories become archived posts."""

    source: ImportSource
    with_stories: bool = True


class ImportsApi(Controller):
    """Imports."""

    path = "/api/v1/imports"
    tags = ("Imports",)

    @post("/", summary="Begin an import", status_code=201, scope=scopes.POSTS_WRITE)
    async def begin(self, data: JSONBody[NewImport], viewer: Viewer, rooms: InjectedRooms) -> ImportView:
        """Begin an import, one at a time; it waits for its archives and for `start`."""
        run = await rooms.imports.begin(viewer.id, data.source, with_stories=data.with_stories)
        return await _show(run, rooms)

    @get("/", summary="List imports", scope=scopes.READ)
    async def imports(self, viewer: Viewer, rooms: InjectedRooms) -> ImportsView:
        """The imports of the last month, the latest first."""
        runs = await rooms.imports.list_of(viewer.id)
        return ImportsView([await _show(each, rooms) for each in runs], rooms.imports.uploads.max_bytes)

    @get("/{import_id:str}", summary="One import", scope=scopes.READ)
    async def one(self, import_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> ImportView:
        """How far an import is, and how it ended."""
        return await _show(await rooms.imports.get(viewer.id, parse_id(import_id)), rooms)

    @get("/{import_id:str}/report", summary="The report of an import", scope=scopes.READ)
    async def report(
        self, import_id: PathId, viewer: Viewer, rooms: InjectedRooms, cursor: Cursor = None
    ) -> ImportReportView:
        """Everything that was skipped or changed, each with its reason."""
        after = decode_compound_cursor(cursor, 1)[0] if cursor else 0
        page = await rooms.imports.report(viewer.id, parse_id(import_id), after=after)
        following = None if page.next_after is None else encode_compound_cursor(page.next_after)
        return ImportReportView([show_line(each) for each in page.lines], following, following is not None)

    @post("/{import_id:str}/start", summary="Start an import", status_code=202, scope=scopes.POSTS_WRITE)
    async def start(self, import_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> ImportView:
        """Import the archives, which have all arrived, in the background; one that stopped goes on."""
        return await _show(await rooms.imports.start(viewer.id, parse_id(import_id)), rooms)

    @post("/{import_id:str}/cancel", summary="Cancel an import", status_code=200, scope=scopes.POSTS_WRITE)
    async def cancel(self, import_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> ImportView:
        """End an import; what it has imported stays, and its archives are deleted."""
        return await _show(await rooms.imports.cancel(viewer.id, parse_id(import_id)), rooms)


def _capabilities(rooms: Rooms) -> dict[str, str]:
    return {"Tus-Extension": EXTENSIONS, "Tus-Max-Size": str(rooms.imports.uploads.max_bytes)}


class ImportArchivesApi(Controller):
    """Archives of an import, uploaded by the tus protocol."""

    path = "/api/v1/imports/{import_id:str}/archives"
    tags = ("Imports",)
    before_request = protocol_check(_capabilities)
    exception_handlers = TUS_ERROR_HANDLERS

    @post("/", summary="Begin to upload an archive", request_max_body_size=None, scope=scopes.POSTS_WRITE)
    async def begin(
        self, request: Request[Any, Any, Any], import_id: PathId, viewer: Viewer, rooms: InjectedRooms
    ) -> Response[None]:
        """Add an archive of `Upload-Length` bytes, named by `filename` in `Upload-Metadata`."""
        name = read_metadata(request.headers.get("upload-metadata", "")).get("filename", "")
        run = await rooms.imports.get(viewer.id, parse_id(import_id))
        archive = await rooms.imports.uploads.begin(run, name, read_number(request, "upload-length"))
        location = {"Location": archive_url(archive)}
        if not has_bytes(request):
            return respond(201, location | {"Upload-Offset": "0"})
        return await _receive(request, rooms, archive, at=0, status=201, headers=location)

    @head("/{archive_id:str}", summary="The offset of an archive", scope=scopes.POSTS_WRITE)
    async def offset(
        self, import_id: PathId, archive_id: PathId, viewer: Viewer, rooms: InjectedRooms
    ) -> Response[None]:
        """How many bytes have been stored."""
        archive = await _find(import_id, archive_id, viewer.id, rooms)
        sizes = {"Upload-Length": str(archive.size_bytes), "Upload-Offset": str(archive.received_bytes)}
        return respond(200, sizes | {"Cache-Control": "no-store"})

    @patch(
        "/{archive_id:str}",
        summary="Send bytes of an archive",
        status_code=204,
        request_max_body_size=None,
        scope=scopes.POSTS_WRITE,
    )
    async def send(
        self,
        request: Request[Any, Any, Any],
        import_id: PathId,
        archive_id: PathId,
        viewer: Viewer,
        rooms: InjectedRooms,
    ) -> Response[None]:
        """Append bytes at `Upload-Offset`; what arrived before a broken connection is kept."""
        if not has_bytes(request):
            return refuse_type()
        archive = await _find(import_id, archive_id, viewer.id, rooms)
        return await _receive(
            request, rooms, archive, at=read_number(request, "upload-offset"), status=204, headers={}
        )

    @delete("/{archive_id:str}", summary="Remove an archive", scope=scopes.POSTS_WRITE)
    async def remove(
        self, import_id: PathId, archive_id: PathId, viewer: Viewer, rooms: InjectedRooms
    ) -> Response[None]:
        """Remove an archive from an import that has not started, with its bytes."""
        await rooms.imports.uploads.cancel(await _find(import_id, archive_id, viewer.id, rooms))
        return respond(204, {})


async def _show(run: ImportRun, rooms: Rooms) -> ImportView:
    has_archives = run.ended_at is None or run.state == "stopped"
    archives = await rooms.imports.uploads.list_of(run) if has_archives else []
    return show_import(run, archives, rooms.imports.uploads.max_bytes)


async def _find(import_id: str, archive_id: str, owner: Any, rooms: Rooms) -> UploadedArchive:
    return await rooms.imports.uploads.get(parse_id(import_id), parse_id(archive_id), owner=owner)


async def _receive(
    request: Request[Any, Any, Any],
    rooms: Rooms,
    archive: UploadedArchive,
    *,
    at: int,
    status: int,
    headers: dict[str, str],
) -> Response[None]:
    chunks = body_chunks(request, max_bytes=archive.size_bytes + 1)
    offset = await rooms.imports.uploads.receive(archive, at, chunks)
    return respond(status, headers | {"Upload-Offset": str(offset)})
