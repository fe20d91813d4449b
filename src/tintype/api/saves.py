"""Saved posts and collections over HTTP. All of it is the viewer's own; there is no way to see another's."""

from typing import Annotated

import msgspec
from litestar import Controller, delete, get, patch, post, put
from litestar.params import JSONBody, QueryParameter

from tintype.api import scopes
from tintype.api.cursors import decode_cursor
from tintype.api.given import Cursor, House, Limit, PathId, PostRef, Viewer, id_from, post_from
from tintype.api.shown import show_page
from tintype.api.views import PostsView
from tintype.base.ids import IdText, PostId
from tintype.saves import Collection, CollectionId

Name = Annotated[str, msgspec.Meta(max_length=500)]
InCollection = Annotated[
    str | None,
    QueryParameter(
        name="collection", description="Only what is in this collection.", pattern=r"^[1-9][0-9]{0,18}$"
    ),
]


class Saving(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where to keep a post."""

    collection_ids: Annotated[list[IdText], msgspec.Meta(max_length=200)] = []


class NewCollection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A collection to make."""

    name: Name


class CollectionChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to change; what is left out stays."""

    name: Name | None = None
    cover_post_id: IdText | None = None


class CollectionOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Collections in their new order."""

    collection_ids: Annotated[list[IdText], msgspec.Meta(max_length=200)]


class CollectionView(msgspec.Struct, frozen=True):
    """A collection of the viewer's."""

    collection_id: str
    name: str
    post_count: int
    cover_post_id: str | None


class CollectionsView(msgspec.Struct, frozen=True):
    """All collections, in the order their owner gave them."""

    collections: list[CollectionView]


class SavesApi(Controller):
    """What one keeps for oneself."""

    path = "/api/v1"
    tags = ("Saves",)

    @put("/posts/{post_id:str}/save", summary="Save a post", status_code=204, scope=scopes.SAVES_WRITE)
    async def save(self, post_id: PostRef, data: JSONBody[Saving], viewer: Viewer, rooms: House) -> None:
        """Keep a post, in these collections too; saving twice is saving once."""
        into = [CollectionId(id_from(each)) for each in data.collection_ids]
        await rooms.saves.save(post_from(post_id), viewer.id, into)

    @delete("/posts/{post_id:str}/save", summary="Unsave a post", scope=scopes.SAVES_WRITE)
    async def unsave(self, post_id: PostRef, viewer: Viewer, rooms: House) -> None:
        """Keep it no longer, in no collection either."""
        await rooms.saves.unsave(post_from(post_id), viewer.id)

    @get("/saves", summary="Saved posts", scope=scopes.READ)
    async def page(
        self,
        viewer: Viewer,
        rooms: House,
        in_collection: InCollection = None,
        cursor: Cursor = None,
        limit: Limit = 12,
    ) -> PostsView:
        """Kept posts that can still be seen, the one kept last first."""
        page = await rooms.saves.page(
            viewer.id,
            collection_id=CollectionId(id_from(in_collection)) if in_collection else None,
            before=decode_cursor(cursor),
            limit=limit,
        )
        return await show_page(rooms, viewer, page)

    @get("/collections", summary="Your collections", scope=scopes.READ)
    async def collections(self, viewer: Viewer, rooms: House) -> CollectionsView:
        """All of them, in their order."""
        return CollectionsView([_show(each) for each in await rooms.saves.collections.list_of(viewer.id)])

    @post("/collections", summary="Make a collection", scope=scopes.SAVES_WRITE)
    async def create(self, data: JSONBody[NewCollection], viewer: Viewer, rooms: House) -> CollectionView:
        """An empty collection under a name of its own."""
        made = await rooms.saves.collections.create(viewer.id, data.name)
        return next(
            _show(each) for each in await rooms.saves.collections.list_of(viewer.id) if each.id == made
        )

    @put("/collections/order", summary="Order collections", status_code=204, scope=scopes.SAVES_WRITE)
    async def order(self, data: JSONBody[CollectionOrder], viewer: Viewer, rooms: House) -> None:
        """Put collections in this order."""
        ids = [CollectionId(id_from(each)) for each in data.collection_ids]
        await rooms.saves.collections.order(viewer.id, ids)

    @patch(
        "/collections/{collection_id:str}",
        summary="Change a collection",
        scope=scopes.SAVES_WRITE,
        status_code=204,
    )
    async def change(
        self, collection_id: PathId, data: JSONBody[CollectionChange], viewer: Viewer, rooms: House
    ) -> None:
        """Rename it, or choose its cover."""
        await rooms.saves.collections.change(
            viewer.id,
            CollectionId(id_from(collection_id)),
            name=data.name,
            cover=PostId(id_from(data.cover_post_id)) if data.cover_post_id else None,
        )

    @delete("/collections/{collection_id:str}", summary="Delete a collection", scope=scopes.SAVES_WRITE)
    async def remove(self, collection_id: PathId, viewer: Viewer, rooms: House) -> None:
        """The collection goes, its posts stay saved."""
        await rooms.saves.collections.delete(viewer.id, CollectionId(id_from(collection_id)))

    @put(
        "/collections/{collection_id:str}/posts/{post_id:str}",
        summary="Put into a collection",
        status_code=204,
        scope=scopes.SAVES_WRITE,
    )
    async def put_into(self, collection_id: PathId, post_id: PostRef, viewer: Viewer, rooms: House) -> None:
        """Save a post into one collection."""
        into = [CollectionId(id_from(collection_id))]
        await rooms.saves.save(post_from(post_id), viewer.id, into)

    @delete(
        "/collections/{collection_id:str}/posts/{post_id:str}",
        summary="Take out of a collection",
        scope=scopes.SAVES_WRITE,
    )
    async def take_out(self, collection_id: PathId, post_id: PostRef, viewer: Viewer, rooms: House) -> None:
        """Take it out of one collection; it stays saved."""
        await rooms.saves.take_out(post_from(post_id), viewer.id, CollectionId(id_from(collection_id)))


def _show(collection: Collection) -> CollectionView:
    cover = collection.cover_post_id
    return CollectionView(
        str(collection.id), collection.name, collection.post_count, str(cover) if cover else None
    )
