"""Highlights over HTTP: stories that stay on a profile."""

from typing import Annotated

import msgspec
from litestar import Controller, delete, get, patch, post, put
from litestar.params import JSONBody

from tintype.accounts import Account
from tintype.api import scopes
from tintype.api.given import Guest, House, PathId, Viewer, id_from
from tintype.api.highlight_views import HighlightsView, HighlightView, show_highlight, show_highlight_card
from tintype.base.ids import AccountId, IdText
from tintype.stories import HighlightChange, HighlightId, ItemId, StoryId
from tintype.wiring import Rooms

Title = Annotated[
    str, msgspec.Meta(max_length=200, description="1 to 30 characters.", examples=["By the sea"])
]
Ids = Annotated[list[IdText], msgspec.Meta(max_length=100)]


class NewHighlight(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A highlight to make of one's living stories."""

    title: Title
    story_ids: Annotated[list[IdText], msgspec.Meta(min_length=1, max_length=100)]
    cover_story_id: IdText | None = None


class HighlightEdit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to change; what is left out stays. `item_ids` are all items in their new order."""

    title: Title | None = None
    add_story_ids: Ids = []
    remove_item_ids: Ids = []
    cover_item_id: IdText | None = None
    item_ids: Ids = []


class HighlightOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Highlights in their new order."""

    highlight_ids: Ids


class HighlightsApi(Controller):
    """Highlights."""

    path = "/api/v1"
    tags = ("Stories",)

    @post("/highlights", summary="Make a highlight", scope=scopes.STORIES_WRITE)
    async def make(self, data: JSONBody[NewHighlight], viewer: Viewer, rooms: House) -> HighlightView:
        """Copy stories that live; the copies stay."""
        made = await rooms.stories.highlights.make(
            viewer.id,
            data.title,
            [StoryId(id_from(each)) for each in data.story_ids],
            cover=StoryId(id_from(data.cover_story_id)) if data.cover_story_id else None,
        )
        return await _show_one(rooms, viewer, made)

    @get("/highlights", summary="My highlights", scope=scopes.READ)
    async def own(self, viewer: Viewer, rooms: House) -> HighlightsView:
        """One's own, in their order."""
        return await _show_all(rooms, viewer.id, viewer)

    @get("/accounts/{account_id:str}/highlights", summary="Somebody's highlights", scope=scopes.READ)
    async def of_account(self, account_id: PathId, guest: Guest, rooms: House) -> HighlightsView:
        """In the order their owner gave them."""
        return await _show_all(rooms, AccountId(id_from(account_id)), guest)

    @get("/highlights/{highlight_id:str}", summary="One highlight", scope=scopes.READ)
    async def one(self, highlight_id: PathId, guest: Guest, rooms: House) -> HighlightView:
        """A highlight with its stories."""
        return await _show_one(rooms, guest, HighlightId(id_from(highlight_id)))

    @put("/highlights/order", summary="Order highlights", status_code=204, scope=scopes.STORIES_WRITE)
    async def order(self, data: JSONBody[HighlightOrder], viewer: Viewer, rooms: House) -> None:
        """Those named come first, in this order."""
        ids = [HighlightId(id_from(each)) for each in data.highlight_ids]
        await rooms.stories.highlights.order(viewer.id, ids)

    @patch("/highlights/{highlight_id:str}", summary="Change a highlight", scope=scopes.STORIES_WRITE)
    async def change(
        self, highlight_id: PathId, data: JSONBody[HighlightEdit], viewer: Viewer, rooms: House
    ) -> HighlightView:
        """Another title, cover or order, more stories or fewer."""
        number = HighlightId(id_from(highlight_id))
        change = HighlightChange(
            title=data.title,
            add_story_ids=tuple(StoryId(id_from(each)) for each in data.add_story_ids),
            remove_item_ids=tuple(ItemId(id_from(each)) for each in data.remove_item_ids),
            cover_item_id=ItemId(id_from(data.cover_item_id)) if data.cover_item_id else None,
            item_ids=tuple(ItemId(id_from(each)) for each in data.item_ids),
        )
        await rooms.stories.highlights.change(viewer.id, number, change)
        return await _show_one(rooms, viewer, number)

    @delete("/highlights/{highlight_id:str}", summary="Delete a highlight", scope=scopes.STORIES_WRITE)
    async def remove(self, highlight_id: PathId, viewer: Viewer, rooms: House) -> None:
        """The highlight goes, with every picture that nothing else shows."""
        await rooms.stories.highlights.delete(viewer.id, HighlightId(id_from(highlight_id)))


async def _show_one(rooms: Rooms, viewer: Account | None, highlight_id: HighlightId) -> HighlightView:
    viewer_id = viewer.id if viewer else None
    found = await rooms.stories.highlights.get(highlight_id, viewer=viewer_id)
    return show_highlight(found, rooms.shards.map.layout, rooms.media.addresses, viewer=viewer_id)


async def _show_all(rooms: Rooms, owner: AccountId, viewer: Account | None) -> HighlightsView:
    found = await rooms.stories.highlights.of_account(owner, viewer=viewer.id if viewer else None)
    return HighlightsView([show_highlight_card(each, rooms.media.addresses) for each in found])
