"""The viewer's update log over HTTP: what fills the gaps of a live connection, or replaces one."""

from typing import Annotated

from litestar import Controller, get
from litestar.params import QueryParameter

from tintype.api.http import scopes
from tintype.api.http.dependencies import InjectedRooms, Viewer
from tintype.api.views.sync import SyncView, show_sync
from tintype.base.ids import LARGEST_ID

Since = Annotated[
    int | None,
    QueryParameter(
        description="The number of the last update that the client knows. Without one: only where the log is now.",
        ge=0,
        le=LARGEST_ID,
    ),
]
SyncLimit = Annotated[int, QueryParameter(description="How many at most.", ge=1, le=500)]


class SyncApi(Controller):
    """Updates of the viewer."""

    path = "/api/v1/sync"
    tags = ("Sync",)

    @get("/", summary="Updates since a number", scope=scopes.READ)
    async def read(
        self, viewer: Viewer, rooms: InjectedRooms, since: Since = None, limit: SyncLimit = 100
    ) -> SyncView:
        """Updates after a number, oldest first, without gaps.

        With `is_reset`, the log no longer holds all of them: fetch the inbox, notifications and feed anew, then
        continue from `seq`. Updates are kept for 30 days, and the newest 5,000 of an account.
        """
        return show_sync(await rooms.sync.read(viewer.id, since, limit))
