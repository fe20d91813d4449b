"""Export of personal data, and account deletion, over HTTP.

No API token requests or downloads an export: it holds more than all scopes together let a token read. People need a
recent proof of identity for both.
"""

from typing import Annotated

import msgspec
from litestar import Controller, get, post
from litestar.params import JSONBody
from litestar.response import Stream

from tintype.api.http import scopes
from tintype.api.http.dependencies import (
    ConfirmedSession,
    InjectedRooms,
    PathId,
    ReauthenticatedSession,
    Viewer,
    parse_id,
)
from tintype.api.views.personal_data import AccountDeletionView, ExportsView, ExportView, show_export


class AccountDeletion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The password, to confirm the deletion."""

    password: Annotated[str, msgspec.Meta(max_length=1024)]


class PersonalDataApi(Controller):
    """Exports and account deletion."""

    path = "/api/v1/accounts/me"
    tags = ("Accounts",)

    @post("/deletion", summary="Delete my account", status_code=202)
    async def delete_account(
        self, data: JSONBody[AccountDeletion], confirmed: ConfirmedSession, rooms: InjectedRooms
    ) -> AccountDeletionView:
        """The account is hidden and signed out at once, and erased after some days unless its owner signs in again."""
        return AccountDeletionView(
            await rooms.personal_data.request_erasure(confirmed.account_id, data.password)
        )

    @post("/exports", summary="Request an export", status_code=202, open_to_suspended=True)
    async def request(self, proven: ReauthenticatedSession, rooms: InjectedRooms) -> ExportView:
        """Create an archive of the account's data in the background; one at a time."""
        return show_export(await rooms.personal_data.request_export(proven.account_id))

    @get("/exports", summary="List exports", scope=scopes.READ, open_to_suspended=True)
    async def exports(self, viewer: Viewer, rooms: InjectedRooms) -> ExportsView:
        """Exports that are being made and those that can be downloaded."""
        return ExportsView([show_export(each) for each in await rooms.personal_data.list_exports(viewer.id)])

    @get("/exports/{export_id:str}", summary="One export", scope=scopes.READ, open_to_suspended=True)
    async def export(self, export_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> ExportView:
        """The state of an export."""
        return show_export(await rooms.personal_data.get_export(viewer.id, parse_id(export_id)))

    @get(
        "/exports/{export_id:str}/file",
        summary="Download an export",
        media_type="application/zip",
        open_to_suspended=True,
    )
    async def file(self, export_id: PathId, proven: ReauthenticatedSession, rooms: InjectedRooms) -> Stream:
        """A zip file with JSON lists and media files."""
        export, pieces = await rooms.personal_data.open_export(proven.account_id, parse_id(export_id))
        headers = {
            "Content-Disposition": f'attachment; filename="tintype-{export.id}.zip"',
            "Content-Length": str(export.size_bytes),
            "Cache-Control": "private, no-store",
        }
        return Stream(pieces, media_type="application/zip", headers=headers)
