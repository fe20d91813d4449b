"""Saved posts and collections over HTTP. They are private: nobody sees what others saved."""

from typing import Annotated

import msgspec
from litestar import Controller, delete, get, patch, post, put
from litestar.params import JSONBody, QueryParameter

from tintype.api.http import scopes
from tintype.api.http.cursors import decode_cursor
from tintype.api.http.dependencies import (
    Cursor,
    InjectedRooms,
    Limit,
    PathId,
    PostRef,
    Viewer,
    parse_id,
    parse_post_id,
)
from tintype.api.views.post_presenter import show_page
from tintype.api.views.posts import PostsView
from tintype.api.views.saves import CollectionsView, CollectionView, show_collection
from tintype.base.ids import IdText, PostId
from tintype.saves import CollectionId

Name = Annotated[str, msgspec.Meta(max_length=500)]
InCollection = Annotated[
    str | None,
    QueryParameter(
        name="collection", description="Only what is in this collection.", pattern=r"^[1-9][0-9]{0,18}$"
    ),
]


class SaveOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The collections to save a post into."""

    collection_ids: Annotated[list[IdText], msgspec.Meta(max_length=200)] = []


class NewCollection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A collection to create."""

    name: Name


class CollectionChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to change; what is left out stays."""

    name: Name | None = None
    cover_post_id: IdText | None = None


class CollectionOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Collections in their new order."""

    collection_ids: Annotated[list[IdText], msgspec.Meta(max_length=200)]


class SavesApi(Controller):
    """Saved posts and collections."""

    path = "/api/v1"
    tags = ("Saves",)

    @put(
        "/posts/{post_id:str}/save",
        summary="Save a post",
        status_code=204,
        scope=scopes.SAVES_WRITE,
        lean=True,
    )
    async def save(
        self, post_id: PostRef, data: JSONBody[SaveOptions], viewer: Viewer, rooms: InjectedRooms
    ) -> None:
        """Save a post, and add it to these collections; safe to repeat."""
        into = [CollectionId(parse_id(each)) for each in data.collection_ids]
        await rooms.saves.save(parse_post_id(post_id), viewer.id, into)

    @delete("/posts/{post_id:str}/save", summary="Unsave a post", scope=scopes.SAVES_WRITE, lean=True)
    async def unsave(self, post_id: PostRef, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Unsave a post, and remove it from every collection."""
        await rooms.saves.unsave(parse_post_id(post_id), viewer.id)

    @get("/saves", summary="Saved posts", scope=scopes.READ)
    async def page(
        self,
        viewer: Viewer,
        rooms: InjectedRooms,
        in_collection: InCollection = None,
        cursor: Cursor = None,
        limit: Limit = 12,
    ) -> PostsView:
        """Saved posts that the viewer may still see, the last saved first."""
        page = await rooms.saves.page(
            viewer.id,
            collection_id=CollectionId(parse_id(in_collection)) if in_collection else None,
            before=decode_cursor(cursor),
            limit=limit,
        )
        return await show_page(rooms, viewer, page)

    @get("/collections", summary="Your collections", scope=scopes.READ)
    async def collections(self, viewer: Viewer, rooms: InjectedRooms) -> CollectionsView:
        """The viewer's collections, in their order."""
        return CollectionsView(
            [show_collection(each) for each in await rooms.saves.list_collections(viewer.id)]
        )

    @post("/collections", summary="Create a collection", scope=scopes.SAVES_WRITE)
    async def create(
        self, data: JSONBody[NewCollection], viewer: Viewer, rooms: InjectedRooms
    ) -> CollectionView:
        """Create an empty collection; names are unique."""
        made = await rooms.saves.create_collection(viewer.id, data.name)
        return next(
            show_collection(each) for each in await rooms.saves.list_collections(viewer.id) if each.id == made
        )

    @put("/collections/order", summary="Order collections", status_code=204, scope=scopes.SAVES_WRITE)
    async def order(self, data: JSONBody[CollectionOrder], viewer: Viewer, rooms: InjectedRooms) -> None:
        """Sort the collections in this order."""
        ids = [CollectionId(parse_id(each)) for each in data.collection_ids]
        await rooms.saves.order_collections(viewer.id, ids)

    @patch(
        "/collections/{collection_id:str}",
        summary="Change a collection",
        scope=scopes.SAVES_WRITE,
        status_code=204,
    )
    async def change(
        self, collection_id: PathId, data: JSONBody[CollectionChange], viewer: Viewer, rooms: InjectedRooms
    ) -> None:
        """Rename a collection, or choose its cover."""
        await rooms.saves.change_collection(
            viewer.id,
            CollectionId(parse_id(collection_id)),
            name=data.name,
            cover=PostId(parse_id(data.cover_post_id)) if data.cover_post_id else None,
        )

    @delete("/collections/{collection_id:str}", summary="Delete a collection", scope=scopes.SAVES_WRITE)
    async def remove(self, collection_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Delete a collection; its posts stay saved."""
        await rooms.saves.delete_collection(viewer.id, CollectionId(parse_id(collection_id)))

    @put(
        "/collections/{collection_id:str}/posts/{post_id:str}",
        summary="Add to a collection",
        status_code=204,
        scope=scopes.SAVES_WRITE,
    )
    async def add_to_collection(
        self, collection_id: PathId, post_id: PostRef, viewer: Viewer, rooms: InjectedRooms
    ) -> None:
        """Save a post, and add it to a collection."""
        into = [CollectionId(parse_id(collection_id))]
        await rooms.saves.save(parse_post_id(post_id), viewer.id, into)

    @delete(
        "/collections/{collection_id:str}/posts/{post_id:str}",
        summary="Remove from a collection",
        scope=scopes.SAVES_WRITE,
    )
    async def remove_from_collection(
        self, collection_id: PathId, post_id: PostRef, viewer: Viewer, rooms: InjectedRooms
    ) -> None:
        """Remove a post from a collection; it stays saved."""
        await rooms.saves.remove_from_collection(
            parse_post_id(post_id), viewer.id, CollectionId(parse_id(collection_id))
        )
