"""Taking one's things along, and leaving, over HTTP."""

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from litestar import Controller, get, post
from litestar.params import JSONBody
from litestar.response import Stream

from tintype.api import scopes
from tintype.api.given import House, PathId, Viewer, id_from
from tintype.belongings import Export


class Leave(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The password once more."""

    password: Annotated[str, msgspec.Meta(max_length=1024)]


class LeavingView(msgspec.Struct, frozen=True):
    """When everything will be erased; signing in before then takes it back."""

    due_at: datetime


class ExportView(msgspec.Struct, frozen=True):
    """An archive, being made or ready."""

    export_id: str
    state: Literal["waiting", "running", "ready", "failed"]
    room: str
    """Which part of the house is being read, while it runs."""
    records: int
    size_bytes: int
    file_url: str | None
    expires_at: datetime


class ExportsView(msgspec.Struct, frozen=True):
    """The latest first."""

    exports: list[ExportView]


class BelongingsApi(Controller):
    """Exports and departures."""

    path = "/api/v1/accounts/me"
    tags = ("Accounts",)

    @post("/deletion", summary="Delete my account", status_code=202)
    async def leave(self, data: JSONBody[Leave], viewer: Viewer, rooms: House) -> LeavingView:
        """Invisible and signed out at once; erased after some days, unless one signs in again."""
        return LeavingView(await rooms.departures.leaving.request(viewer.id, data.password))

    @post("/exports", summary="Ask for an archive", status_code=202, scope=scopes.ACCOUNT_WRITE)
    async def request(self, viewer: Viewer, rooms: House) -> ExportView:
        """An archive of everything that is one's own, made in the background, one at a time."""
        return _show(await rooms.departures.exports.request(viewer.id))

    @get("/exports", summary="My archives", scope=scopes.READ)
    async def exports(self, viewer: Viewer, rooms: House) -> ExportsView:
        """Those being made and those that can be fetched."""
        return ExportsView([_show(each) for each in await rooms.departures.exports.list_own(viewer.id)])

    @get("/exports/{export_id:str}", summary="How far an archive is", scope=scopes.READ)
    async def export(self, export_id: PathId, viewer: Viewer, rooms: House) -> ExportView:
        """One archive."""
        return _show(await rooms.departures.exports.get(viewer.id, id_from(export_id)))

    @get(
        "/exports/{export_id:str}/file",
        summary="Fetch an archive",
        scope=scopes.ACCOUNT_WRITE,
        media_type="application/zip",
    )
    async def file(self, export_id: PathId, viewer: Viewer, rooms: House) -> Stream:
        """A zip with JSON lists and media files."""
        export, pieces = await rooms.departures.exports.open(viewer.id, id_from(export_id))
        headers = {
            "Content-Disposition": f'attachment; filename="tintype-{export.id}.zip"',
            "Content-Length": str(export.size_bytes),
            "Cache-Control": "private, no-store",
        }
        return Stream(pieces, media_type="application/zip", headers=headers)


def _show(export: Export) -> ExportView:
    url = f"/api/v1/accounts/me/exports/{export.id}/file" if export.state == "ready" else None
    return ExportView(
        str(export.id), export.state, export.room, export.records, export.size_bytes, url, export.expires_at
    )
