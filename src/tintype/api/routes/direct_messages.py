"""Messages of conversations over HTTP.

Every change carries the device's own id of it (`local_id`) and its place in the device's order (`counter`): sent again,
it is answered as the first time; sent before an earlier one has arrived, it is refused with `earlier_missing`.
"""

from typing import Annotated

import msgspec
from litestar import Controller, get, post, put
from litestar.params import JSONBody

from tintype.api.http import scopes
from tintype.api.http.cursors import decode_cursor
from tintype.api.http.dependencies import (
    Cursor,
    InjectedRooms,
    Limit,
    PathId,
    Viewer,
    parse_id,
    parse_media_id,
    parse_post_id,
)
from tintype.api.views.context import context_for
from tintype.api.views.direct import (
    MessagesView,
    MessageView,
    SentView,
    show_message,
    show_messages,
    show_sent,
)
from tintype.base.ids import IdText
from tintype.direct import Draft, MessageId, Mutation, ThreadId
from tintype.stories import StoryId

Name = Annotated[
    str,
    msgspec.Meta(
        max_length=64,
        description="1 to 64 letters, digits, dots, hyphens and underscores.",
        examples=["k3f-1"],
    ),
]
Text = Annotated[str, msgspec.Meta(max_length=20_000, description="1 to 4,000 characters.")]


class DeviceChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change that a device makes in a thread, under its own id and in its own order."""

    device_id: Name
    local_id: Name
    counter: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=9_007_199_254_740_991,
            description="1 for the device's first change in this thread, and one more for each that was accepted.",
        ),
    ]


class NewMessage(DeviceChange, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A message to send."""

    text: Text = ""
    reply_to: IdText | None = None
    media_id: IdText | None = None
    """An upload to send."""
    post_id: IdText | None = None
    """A post to share."""
    story_id: IdText | None = None
    """A story to share."""


class MessageEdit(DeviceChange, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Another text for a message."""

    text: Text


class NewMessageReaction(DeviceChange, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A reaction; null takes it back."""

    emoji: Annotated[str, msgspec.Meta(max_length=32, description="An emoji.", examples=["❤️"])] | None


class DirectMessagesApi(Controller):
    """Messages."""

    path = "/api/v1/direct/threads/{thread_id:str}/messages"
    tags = ("Direct messages",)

    @get("/", summary="Messages", scope=scopes.DIRECT_READ)
    async def page(
        self,
        thread_id: PathId,
        viewer: Viewer,
        rooms: InjectedRooms,
        cursor: Cursor = None,
        limit: Limit = 20,
    ) -> MessagesView:
        """Messages since the viewer joined, newest first."""
        page = await rooms.direct.page_messages(
            _thread_id(thread_id), viewer.id, before=decode_cursor(cursor), limit=limit
        )
        return show_messages(page, context_for(viewer, rooms))

    @post("/", summary="Send a message", scope=scopes.DIRECT_WRITE)
    async def send(
        self, thread_id: PathId, data: JSONBody[NewMessage], viewer: Viewer, rooms: InjectedRooms
    ) -> SentView:
        """Send a message, once however often it is sent under the same local id, and in the device's order."""
        number = _thread_id(thread_id)
        draft = Draft(
            text=data.text,
            reply_to=_message_id(data.reply_to) if data.reply_to else None,
            media_id=parse_media_id(data.media_id) if data.media_id else None,
            post_id=parse_post_id(data.post_id) if data.post_id else None,
            story_id=StoryId(parse_id(data.story_id)) if data.story_id else None,
        )
        sent = await rooms.direct.send(number, viewer.id, draft, _mutation(data))
        return show_sent(number, sent, context_for(viewer, rooms))

    @get("/{message_id:str}", summary="One message", scope=scopes.DIRECT_READ)
    async def one(
        self, thread_id: PathId, message_id: PathId, viewer: Viewer, rooms: InjectedRooms
    ) -> MessageView:
        """A message as it is now."""
        found = await rooms.direct.get_message(_thread_id(thread_id), _message_id(message_id), viewer.id)
        return show_message(found, context_for(viewer, rooms))

    @put("/{message_id:str}/text", summary="Edit a message", status_code=204, scope=scopes.DIRECT_WRITE)
    async def edit(
        self,
        thread_id: PathId,
        message_id: PathId,
        data: JSONBody[MessageEdit],
        viewer: Viewer,
        rooms: InjectedRooms,
    ) -> None:
        """Change one's own message within 15 minutes."""
        await rooms.direct.edit(
            _thread_id(thread_id), _message_id(message_id), viewer.id, data.text, _mutation(data)
        )

    @put("/{message_id:str}/unsent", summary="Unsend a message", status_code=204, scope=scopes.DIRECT_WRITE)
    async def unsend(
        self,
        thread_id: PathId,
        message_id: PathId,
        data: JSONBody[DeviceChange],
        viewer: Viewer,
        rooms: InjectedRooms,
    ) -> None:
        """Take one's own message back: nothing is left of it but its position."""
        await rooms.direct.unsend(_thread_id(thread_id), _message_id(message_id), viewer.id, _mutation(data))

    @put(
        "/{message_id:str}/reaction",
        summary="React to a message",
        status_code=204,
        scope=scopes.DIRECT_WRITE,
    )
    async def react(
        self,
        thread_id: PathId,
        message_id: PathId,
        data: JSONBody[NewMessageReaction],
        viewer: Viewer,
        rooms: InjectedRooms,
    ) -> None:
        """Set one's reaction, replacing an earlier one; null takes it back."""
        await rooms.direct.react(
            _thread_id(thread_id), _message_id(message_id), viewer.id, data.emoji, _mutation(data)
        )


def _mutation(data: DeviceChange) -> Mutation:
    return Mutation(data.device_id, data.local_id, data.counter)


def _thread_id(text: str) -> ThreadId:
    return ThreadId(parse_id(text))


def _message_id(text: str) -> MessageId:
    return MessageId(parse_id(text))
