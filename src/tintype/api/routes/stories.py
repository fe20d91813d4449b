"""Stories over HTTP: publishing, the tray, viewers, reactions and replies."""

from typing import Annotated

import msgspec
from litestar import Controller, delete, get, post, put
from litestar.params import JSONBody

from tintype.accounts import Account
from tintype.api.http import scopes
from tintype.api.http.cursors import decode_cursor
from tintype.api.http.dependencies import (
    Cursor,
    Guest,
    IdempotencyKey,
    InjectedRooms,
    Limit,
    PathId,
    Viewer,
    id_of,
    parse_account_id,
    parse_id,
)
from tintype.api.routes.story_bodies import StoryDraft, read_story
from tintype.api.views.context import context_for
from tintype.api.views.stories import (
    AccountStoriesView,
    ReplyView,
    StoryView,
    StoryViewersView,
    TrayView,
    show_account_stories,
    show_story,
    show_tray,
    show_viewers,
)
from tintype.base.ids import IdText
from tintype.stories import StoryId
from tintype.wiring import Rooms


class SeenStories(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Stories that were seen."""

    story_ids: Annotated[list[IdText], msgspec.Meta(min_length=1, max_length=100)]


class NewReaction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of the emoji that can be sent as a reaction."""

    reaction: Annotated[
        str, msgspec.Meta(max_length=16, description="One of ❤️ 🔥 😂 😮 😢 👏 🎉 💯.", examples=["🔥"])
    ]


class NewReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A private reply to the author."""

    text: Annotated[str, msgspec.Meta(max_length=5_000, description="1 to 1,000 characters.")]


class StoriesApi(Controller):
    """Stories."""

    path = "/api/v1"
    tags = ("Stories",)

    @post("/stories", summary="Publish a story", scope=scopes.STORIES_WRITE)
    async def publish(
        self,
        data: JSONBody[StoryDraft],
        viewer: Viewer,
        rooms: InjectedRooms,
        idempotency_key: IdempotencyKey = None,
    ) -> StoryView:
        """Publish a photo or video for 24 hours; once, however often the same Idempotency-Key is sent."""
        story_id = await rooms.stories.publish(viewer.id, read_story(data), key=idempotency_key or None)
        return await _show_one(rooms, viewer, story_id)

    @get("/stories/feed", summary="The tray of stories", scope=scopes.READ)
    async def tray(self, viewer: Viewer, rooms: InjectedRooms) -> TrayView:
        """The viewer's own stories first, then authors with unseen stories, the closest to the viewer first."""
        tray = await rooms.stories.get_tray(viewer.id)
        return show_tray(tray, context_for(viewer, rooms))

    @get("/accounts/{account_id:str}/stories", summary="Somebody's stories", scope=scopes.READ)
    async def of_account(self, account_id: PathId, guest: Guest, rooms: InjectedRooms) -> AccountStoriesView:
        """An account's live stories, oldest first."""
        author, stories = await rooms.stories.list_of_account(
            parse_account_id(account_id), viewer=id_of(guest)
        )
        return show_account_stories(author, stories, context_for(guest, rooms))

    @get("/stories/{story_id:str}", summary="One story", scope=scopes.READ)
    async def one(self, story_id: PathId, guest: Guest, rooms: InjectedRooms) -> StoryView:
        """A story that has not expired."""
        return await _show_one(rooms, guest, StoryId(parse_id(story_id)))

    @delete("/stories/{story_id:str}", summary="Delete a story", scope=scopes.STORIES_WRITE)
    async def remove(self, story_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """The story is gone for everybody at once; copies in highlights stay."""
        await rooms.stories.remove(StoryId(parse_id(story_id)), viewer.id)

    @put("/stories/seen", summary="Mark many as seen", status_code=204, scope=scopes.STORIES_WRITE)
    async def see_many(self, data: JSONBody[SeenStories], viewer: Viewer, rooms: InjectedRooms) -> None:
        """Mark these stories as seen; those that the viewer may not see are skipped."""
        await rooms.stories.mark_many_seen([StoryId(parse_id(each)) for each in data.story_ids], viewer.id)

    @put("/stories/{story_id:str}/seen", summary="Mark as seen", status_code=204, scope=scopes.STORIES_WRITE)
    async def see(self, story_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Mark a story as seen; safe to repeat."""
        await rooms.stories.mark_seen(StoryId(parse_id(story_id)), viewer.id)

    @get("/stories/{story_id:str}/viewers", summary="Who saw it", scope=scopes.READ)
    async def viewers(
        self, story_id: PathId, viewer: Viewer, rooms: InjectedRooms, cursor: Cursor = None, limit: Limit = 20
    ) -> StoryViewersView:
        """Those who saw the story, the latest first; for its author alone."""
        count, page = await rooms.stories.list_viewers(
            StoryId(parse_id(story_id)), owner=viewer.id, before=decode_cursor(cursor), limit=limit
        )
        return show_viewers(count, page, context_for(viewer, rooms))

    @put("/stories/{story_id:str}/reaction", summary="React", status_code=204, scope=scopes.STORIES_WRITE)
    async def react(
        self, story_id: PathId, data: JSONBody[NewReaction], viewer: Viewer, rooms: InjectedRooms
    ) -> None:
        """React with an emoji; it replaces an earlier reaction."""
        await rooms.stories.react(StoryId(parse_id(story_id)), viewer.id, data.reaction)

    @delete("/stories/{story_id:str}/reaction", summary="Remove a reaction", scope=scopes.STORIES_WRITE)
    async def unreact(self, story_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Remove the viewer's reaction."""
        await rooms.stories.react(StoryId(parse_id(story_id)), viewer.id, None)

    @post("/stories/{story_id:str}/replies", summary="Reply", scope=scopes.STORIES_WRITE)
    async def reply(
        self,
        story_id: PathId,
        data: JSONBody[NewReply],
        viewer: Viewer,
        rooms: InjectedRooms,
        idempotency_key: IdempotencyKey = None,
    ) -> ReplyView:
        """Send a reply to the author; nobody else can read it."""
        reply = await rooms.stories.reply(
            StoryId(parse_id(story_id)), viewer.id, data.text, key=idempotency_key or None
        )
        return ReplyView(str(reply.id), story_id, rooms.shards.map.layout.id_time(reply.id))


async def _show_one(rooms: Rooms, viewer: Account | None, story_id: StoryId) -> StoryView:
    story = await rooms.stories.get(story_id, viewer=id_of(viewer))
    return show_story(story, context_for(viewer, rooms))
