"""Highlights over HTTP: stories that stay on a profile."""

from typing import Annotated

import msgspec
from litestar import Controller, delete, get, patch, post, put
from litestar.params import JSONBody

from tintype.accounts import Account
from tintype.api.http import scopes
from tintype.api.http.dependencies import (
    Guest,
    InjectedRooms,
    PathId,
    Viewer,
    id_of,
    parse_account_id,
    parse_id,
)
from tintype.api.views.context import context_for
from tintype.api.views.highlights import HighlightsView, HighlightView, show_highlight, show_highlight_card
from tintype.base.ids import AccountId, IdText
from tintype.stories import HighlightChange, HighlightId, HighlightItemId, StoryId
from tintype.wiring import Rooms

Title = Annotated[
    str, msgspec.Meta(max_length=200, description="1 to 30 characters.", examples=["By the sea"])
]
Ids = Annotated[list[IdText], msgspec.Meta(max_length=100)]


class NewHighlight(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A highlight to create from one's own live stories."""

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

    @post("/highlights", summary="Create a highlight", scope=scopes.STORIES_WRITE)
    async def create(
        self, data: JSONBody[NewHighlight], viewer: Viewer, rooms: InjectedRooms
    ) -> HighlightView:
        """Copy live stories into a highlight; the copies do not expire."""
        made = await rooms.stories.create_highlight(
            viewer.id,
            data.title,
            [StoryId(parse_id(each)) for each in data.story_ids],
            cover=StoryId(parse_id(data.cover_story_id)) if data.cover_story_id else None,
        )
        return await _show_one(rooms, viewer, made)

    @get("/highlights", summary="My highlights", scope=scopes.READ)
    async def own(self, viewer: Viewer, rooms: InjectedRooms) -> HighlightsView:
        """The viewer's highlights, in their order."""
        return await _show_all(rooms, viewer.id, viewer)

    @get("/accounts/{account_id:str}/highlights", summary="Somebody's highlights", scope=scopes.READ)
    async def of_account(self, account_id: PathId, guest: Guest, rooms: InjectedRooms) -> HighlightsView:
        """An account's highlights, in the order their owner gave them."""
        return await _show_all(rooms, parse_account_id(account_id), guest)

    @get("/highlights/{highlight_id:str}", summary="One highlight", scope=scopes.READ)
    async def one(self, highlight_id: PathId, guest: Guest, rooms: InjectedRooms) -> HighlightView:
        """A highlight with its stories."""
        return await _show_one(rooms, guest, HighlightId(parse_id(highlight_id)))

    @put("/highlights/order", summary="Order highlights", status_code=204, scope=scopes.STORIES_WRITE)
    async def order(self, data: JSONBody[HighlightOrder], viewer: Viewer, rooms: InjectedRooms) -> None:
        """These highlights come first, in this order."""
        ids = [HighlightId(parse_id(each)) for each in data.highlight_ids]
        await rooms.stories.order_highlights(viewer.id, ids)

    @patch("/highlights/{highlight_id:str}", summary="Change a highlight", scope=scopes.STORIES_WRITE)
    async def change(
        self, highlight_id: PathId, data: JSONBody[HighlightEdit], viewer: Viewer, rooms: InjectedRooms
    ) -> HighlightView:
        """Change the title, cover or order, add stories or remove items."""
        number = HighlightId(parse_id(highlight_id))
        change = HighlightChange(
            title=data.title,
            add_story_ids=tuple(StoryId(parse_id(each)) for each in data.add_story_ids),
            remove_item_ids=tuple(HighlightItemId(parse_id(each)) for each in data.remove_item_ids),
            cover_item_id=HighlightItemId(parse_id(data.cover_item_id)) if data.cover_item_id else None,
            item_ids=tuple(HighlightItemId(parse_id(each)) for each in data.item_ids),
        )
        await rooms.stories.change_highlight(viewer.id, number, change)
        return await _show_one(rooms, viewer, number)

    @delete("/highlights/{highlight_id:str}", summary="Delete a highlight", scope=scopes.STORIES_WRITE)
    async def remove(self, highlight_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Delete the highlight, and its media that nothing else uses."""
        await rooms.stories.delete_highlight(viewer.id, HighlightId(parse_id(highlight_id)))


async def _show_one(rooms: Rooms, viewer: Account | None, highlight_id: HighlightId) -> HighlightView:
    found = await rooms.stories.get_highlight(highlight_id, viewer=id_of(viewer))
    return show_highlight(found, context_for(viewer, rooms))


async def _show_all(rooms: Rooms, owner: AccountId, viewer: Account | None) -> HighlightsView:
    found = await rooms.stories.list_highlights(owner, viewer=id_of(viewer))
    return HighlightsView([show_highlight_card(each, context_for(viewer, rooms)) for each in found])
