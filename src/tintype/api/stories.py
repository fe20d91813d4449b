"""Stories over HTTP: showing them, the tray, who saw them, and what they say to it."""

from typing import Annotated

import msgspec
from litestar import Controller, delete, get, post, put
from litestar.params import HeaderParameter, JSONBody

from tintype.accounts import Account
from tintype.api import scopes
from tintype.api.cursors import decode_cursor, encode_cursor
from tintype.api.given import Cursor, Guest, House, Limit, PathId, Viewer, id_from
from tintype.api.story_views import (
    AccountStoriesView,
    ReplyView,
    StoryView,
    StoryViewersView,
    TrayView,
    show_account_stories,
    show_story,
    show_tray,
    show_viewer,
)
from tintype.base.ids import AccountId, IdText, MediaId
from tintype.stories import Audience, Mention, NewStory, StoryId
from tintype.wiring import Rooms

IdempotencyKey = Annotated[str | None, HeaderParameter(name="Idempotency-Key", max_length=128)]
Part = Annotated[float, msgspec.Meta(ge=0, le=1, description="A fraction of the width or height.")]


class NewMention(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Somebody in a story, and where."""

    user_id: IdText
    x: Part
    y: Part


class StoryDraft(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A story to show."""

    media_id: IdText
    audience: Audience = "everyone"
    text: Annotated[str, msgspec.Meta(max_length=2_000, description="At most 500 characters.")] = ""
    alt_text: Annotated[str, msgspec.Meta(max_length=5_000, description="At most 1,000 characters.")] = ""
    replies_enabled: bool = True
    mentions: Annotated[list[NewMention], msgspec.Meta(max_length=20)] = []


class SeenStories(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Stories that were seen."""

    story_ids: Annotated[list[IdText], msgspec.Meta(min_length=1, max_length=100)]


class NewReaction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A quick reaction."""

    reaction: Annotated[
        str, msgspec.Meta(max_length=16, description="One of ❤️ 🔥 😂 😮 😢 👏 🎉 💯.", examples=["🔥"])
    ]


class NewReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to say to the author."""

    text: Annotated[str, msgspec.Meta(max_length=5_000, description="1 to 1,000 characters.")]


class StoriesApi(Controller):
    """Stories."""

    path = "/api/v1"
    tags = ("Stories",)

    @post("/stories", summary="Show a story", scope=scopes.STORIES_WRITE)
    async def publish(
        self, data: JSONBody[StoryDraft], viewer: Viewer, rooms: House, idempotency_key: IdempotencyKey = None
    ) -> StoryView:
        """Show a photo or clip for 24 hours, once however often the same Idempotency-Key is sent."""
        draft = NewStory(
            media_id=MediaId(id_from(data.media_id)),
            audience=data.audience,
            text=data.text,
            alt_text=data.alt_text,
            mentions=tuple(Mention(AccountId(id_from(one.user_id)), one.x, one.y) for one in data.mentions),
            replies_enabled=data.replies_enabled,
        )
        story_id = await rooms.stories.publish(viewer.id, draft, key=idempotency_key or None)
        return await _show_one(rooms, viewer, story_id)

    @get("/stories/feed", summary="The tray of stories", scope=scopes.READ)
    async def tray(self, viewer: Viewer, rooms: House) -> TrayView:
        """Whose stories there are: oneself, then who has something unseen, the closer the earlier."""
        tray = await rooms.stories.tray(viewer.id)
        return show_tray(tray, rooms.shards.map.layout, rooms.media.addresses, viewer=viewer.id)

    @get("/accounts/{account_id:str}/stories", summary="Somebody's stories", scope=scopes.READ)
    async def of_account(self, account_id: PathId, guest: Guest, rooms: House) -> AccountStoriesView:
        """What somebody shows now, oldest first."""
        viewer = guest.id if guest else None
        author, stories = await rooms.stories.of_account(AccountId(id_from(account_id)), viewer=viewer)
        return show_account_stories(
            author, stories, rooms.shards.map.layout, rooms.media.addresses, viewer=viewer
        )

    @get("/stories/{story_id:str}", summary="One story", scope=scopes.READ)
    async def one(self, story_id: PathId, guest: Guest, rooms: House) -> StoryView:
        """A story while it lives."""
        return await _show_one(rooms, guest, StoryId(id_from(story_id)))

    @delete("/stories/{story_id:str}", summary="Take a story away", scope=scopes.STORIES_WRITE)
    async def remove(self, story_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Gone for everybody at once; copies in highlights stay."""
        await rooms.stories.remove(StoryId(id_from(story_id)), viewer.id)

    @put("/stories/seen", summary="Mark many as seen", status_code=204, scope=scopes.STORIES_WRITE)
    async def see_many(self, data: JSONBody[SeenStories], viewer: Viewer, rooms: House) -> None:
        """These were seen; what the viewer may not see is passed over."""
        await rooms.stories.see_many([StoryId(id_from(each)) for each in data.story_ids], viewer.id)

    @put("/stories/{story_id:str}/seen", summary="Mark as seen", status_code=204, scope=scopes.STORIES_WRITE)
    async def see(self, story_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Seen now; twice is once."""
        await rooms.stories.see(StoryId(id_from(story_id)), viewer.id)

    @get("/stories/{story_id:str}/viewers", summary="Who saw it", scope=scopes.READ)
    async def viewers(
        self, story_id: PathId, viewer: Viewer, rooms: House, cursor: Cursor = None, limit: Limit = 20
    ) -> StoryViewersView:
        """The latest first; for the author alone."""
        count, page = await rooms.stories.viewers(
            StoryId(id_from(story_id)), owner=viewer.id, before=decode_cursor(cursor), limit=limit
        )
        shown = [show_viewer(each, rooms.shards.map.layout) for each in page.items]
        return StoryViewersView(count, shown, encode_cursor(page.next_before), page.next_before is not None)

    @put("/stories/{story_id:str}/reaction", summary="React", status_code=204, scope=scopes.STORIES_WRITE)
    async def react(
        self, story_id: PathId, data: JSONBody[NewReaction], viewer: Viewer, rooms: House
    ) -> None:
        """Say it with one sign; the last one counts."""
        await rooms.stories.react(StoryId(id_from(story_id)), viewer.id, data.reaction)

    @delete("/stories/{story_id:str}/reaction", summary="Take a reaction back", scope=scopes.STORIES_WRITE)
    async def unreact(self, story_id: PathId, viewer: Viewer, rooms: House) -> None:
        """No reaction any more."""
        await rooms.stories.react(StoryId(id_from(story_id)), viewer.id, None)

    @post("/stories/{story_id:str}/replies", summary="Reply", scope=scopes.STORIES_WRITE)
    async def reply(
        self,
        story_id: PathId,
        data: JSONBody[NewReply],
        viewer: Viewer,
        rooms: House,
        idempotency_key: IdempotencyKey = None,
    ) -> ReplyView:
        """Say something to the author; nobody else reads it."""
        reply = await rooms.stories.reply(
            StoryId(id_from(story_id)), viewer.id, data.text, key=idempotency_key or None
        )
        return ReplyView(str(reply.id), story_id, rooms.shards.map.layout.id_time(reply.id))


async def _show_one(rooms: Rooms, viewer: Account | None, story_id: StoryId) -> StoryView:
    viewer_id = viewer.id if viewer else None
    story = await rooms.stories.get(story_id, viewer=viewer_id)
    return show_story(story, rooms.shards.map.layout, rooms.media.addresses, viewer=viewer_id)
