"""The signed-in person's storage over HTTP."""

from litestar import Controller, get

from tintype.api.http import scopes
from tintype.api.http.dependencies import InjectedRooms, Viewer
from tintype.api.views.storage import StorageView


class StorageApi(Controller):
    """How much one stores."""

    path = "/api/v1/accounts/me/storage"
    tags = ("Accounts",)

    @get("/", summary="My storage", scope=scopes.READ)
    async def storage(self, viewer: Viewer, rooms: InjectedRooms) -> StorageView:
        """How many bytes photos and videos take, with all that is made from them, and how many they may."""
        usage = await rooms.media.usage.get(viewer.id)
        return StorageView(usage.used_bytes, usage.reserved_bytes, usage.quota_bytes)
