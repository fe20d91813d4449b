"""Presence over HTTP: who is active, and whether one shows it."""

from typing import Annotated

import msgspec
from litestar import Controller, get, put
from litestar.params import JSONBody, QueryParameter

from tintype.api.http import scopes
from tintype.api.http.dependencies import InjectedRooms, Viewer, parse_account_id
from tintype.api.views.presence import PresenceSettingsView, PresencesView, PresenceView

AccountIds = Annotated[
    str,
    QueryParameter(
        description="Ids of up to 50 accounts, separated by commas.",
        pattern=r"^[1-9][0-9]{0,18}(,[1-9][0-9]{0,18}){0,49}$",
        max_length=1_000,
    ),
]


class NewPresenceSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whether to show when one is active."""

    is_shown: bool


class PresenceApi(Controller):
    """Presence of people."""

    path = "/api/v1/presence"
    tags = ("Real time",)

    @get("/", summary="Who is active", scope=scopes.READ)
    async def page(self, account_ids: AccountIds, viewer: Viewer, rooms: InjectedRooms) -> PresencesView:
        """Those of the accounts whose presence the viewer may see: people who follow each other, and both show it."""
        ids = [parse_account_id(each) for each in account_ids.split(",")]
        found = await rooms.realtime.presence.find_many(viewer.id, ids)
        return PresencesView(
            [PresenceView(str(each), one.is_active, one.last_active_at) for each, one in found.items()]
        )

    @get("/settings", summary="Whether presence is shown", scope=scopes.READ)
    async def settings(self, viewer: Viewer, rooms: InjectedRooms) -> PresenceSettingsView:
        """Whether the viewer shows when they are active; who does not sees nobody's presence."""
        return PresenceSettingsView(await rooms.realtime.presence.is_shown(viewer.id))

    @put("/settings", summary="Show or hide presence", status_code=204, scope=scopes.ACCOUNT_WRITE)
    async def choose(self, data: JSONBody[NewPresenceSettings], viewer: Viewer, rooms: InjectedRooms) -> None:
        """Show or hide when the viewer is active."""
        await rooms.realtime.presence.choose(viewer.id, is_shown=data.is_shown)
