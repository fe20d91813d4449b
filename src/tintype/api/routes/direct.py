"""Direct messages over HTTP: threads, the inbox, members and settings."""

from datetime import UTC, datetime, timedelta
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
    Viewer,
    parse_account_id,
    parse_id,
    parse_media_id,
)
from tintype.api.views.context import context_for
from tintype.api.views.direct import (
    InboxView,
    MessagesView,
    ThreadRefView,
    ThreadView,
    UnreadMessagesView,
    show_inbox,
    show_messages,
    show_thread,
)
from tintype.base.ids import IdText
from tintype.direct import Audience, DeviceId, DirectSettings, DisappearsAfter, Folder, Preview, ThreadId

FolderName = Annotated[Folder, QueryParameter(description="Which folder.")]
DeviceName = Annotated[
    str | None,
    QueryParameter(description="A device, to learn how far it has come with its changes.", max_length=64),
]
SearchText = Annotated[str, QueryParameter(description="Whole words.", min_length=1, max_length=200)]
ThreadFilter = Annotated[
    str | None, QueryParameter(description="Only in this conversation.", pattern=r"^[1-9][0-9]{0,18}$")
]
LocalId = Annotated[
    str,
    msgspec.Meta(
        max_length=64, description="The client's own id of what it creates: a repeat finds it again."
    ),
]
FOREVER = timedelta(days=36_500)


class NewThread(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """With one person, the thread of the two; with a local id, a group."""

    account_ids: Annotated[list[IdText], msgspec.Meta(min_length=1, max_length=300)]
    name: Annotated[str, msgspec.Meta(max_length=200, description="At most 60 characters.")] = ""
    local_id: LocalId | None = None
    device_id: IdText | None = None
    """A registered device of the viewer's: the conversation is end-to-end encrypted, and begins on it."""


class ThreadChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is missing stays as it is."""

    name: Annotated[str, msgspec.Meta(max_length=200, description="At most 60 characters.")] | None = None
    disappear_s: (
        Annotated[int, msgspec.Meta(ge=0, le=2_419_200, description="Seconds; 0: messages stay.")] | None
    ) = None
    disappears_after: DisappearsAfter | None = None
    """From when the seconds count: since a message was sent, or since everybody else has seen it."""


class NewGroupPhoto(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A photo that the viewer has uploaded."""

    media_id: IdText


class NewMembers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """People to add to a group."""

    account_ids: Annotated[list[IdText], msgspec.Meta(min_length=1, max_length=250)]


class NewMute(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """For how long; without a time, until it is taken back."""

    for_s: Annotated[int, msgspec.Meta(ge=60, le=31_536_000, description="Seconds.")] | None = None


class SeenMarker(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The number of the last message that was seen."""

    number: Annotated[int, msgspec.Meta(ge=0, le=9_007_199_254_740_991)]


class DirectSettingsBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who may write at all, and what notifications show."""

    audience: Audience
    """`everyone`: strangers as requests; `following`: people one follows; `nobody`: nobody new."""
    preview: Preview
    """What a push notification shows: the text, only the sender's name, or neither."""


class DirectApi(Controller):
    """Conversations."""

    path = "/api/v1/direct"
    tags = ("Direct messages",)

    @post("/threads", summary="Begin a conversation", scope=scopes.DIRECT_WRITE)
    async def open(self, data: JSONBody[NewThread], viewer: Viewer, rooms: InjectedRooms) -> ThreadRefView:
        """The one conversation with somebody, new or not; or, with a `local_id`, a new group."""
        people = [parse_account_id(each) for each in data.account_ids]
        device_id = DeviceId(parse_id(data.device_id)) if data.device_id is not None else None
        if data.local_id is None and len(people) == 1:
            thread_id = await rooms.direct.open_pair(viewer.id, people[0], device_id=device_id)
        else:
            thread_id = await rooms.direct.create_group(
                viewer.id, people, name=data.name, local_id=data.local_id or "", device_id=device_id
            )
        return ThreadRefView(str(thread_id))

    @get("/threads", summary="The inbox", scope=scopes.DIRECT_READ)
    async def inbox(
        self,
        viewer: Viewer,
        rooms: InjectedRooms,
        *,
        folder: FolderName = "inbox",
        cursor: Cursor = None,
        limit: Limit = 20,
    ) -> InboxView:
        """Conversations, requests of strangers, or the archive: the newest message first."""
        page = await rooms.direct.page_inbox(viewer.id, folder, before=decode_cursor(cursor), limit=limit)
        return show_inbox(folder, page, context_for(viewer, rooms))

    @get("/unread", summary="What is unread", scope=scopes.DIRECT_READ)
    async def unread(self, viewer: Viewer, rooms: InjectedRooms) -> UnreadMessagesView:
        """How many conversations have unread messages, and how many requests wait."""
        found = await rooms.direct.count_unread(viewer.id)
        return UnreadMessagesView(found.threads, found.requests)

    @get("/threads/{thread_id:str}", summary="One conversation", scope=scopes.DIRECT_READ)
    async def one(
        self, thread_id: PathId, viewer: Viewer, rooms: InjectedRooms, device_id: DeviceName = None
    ) -> ThreadView:
        """A conversation and its members."""
        found = await rooms.direct.get_thread(_thread_id(thread_id), viewer.id, device_id=device_id)
        return show_thread(found, context_for(viewer, rooms))

    @patch("/threads/{thread_id:str}", summary="Change a conversation", scope=scopes.DIRECT_WRITE)
    async def change(
        self, thread_id: PathId, data: JSONBody[ThreadChange], viewer: Viewer, rooms: InjectedRooms
    ) -> ThreadView:
        """Name a group, as one of its admins; let new messages disappear after some time."""
        number = _thread_id(thread_id)
        await rooms.direct.change_thread(
            number,
            viewer.id,
            name=data.name,
            disappear_s=data.disappear_s,
            disappears_after=data.disappears_after,
        )
        return show_thread(await rooms.direct.get_thread(number, viewer.id), context_for(viewer, rooms))

    @put(
        "/threads/{thread_id:str}/photo",
        summary="Set the photo of a group",
        scope=scopes.DIRECT_WRITE,
    )
    async def set_photo(
        self, thread_id: PathId, data: JSONBody[NewGroupPhoto], viewer: Viewer, rooms: InjectedRooms
    ) -> ThreadView:
        """Show an uploaded photo as the group's, as one of its admins; the one before is deleted."""
        number = _thread_id(thread_id)
        await rooms.direct.set_photo(number, viewer.id, parse_media_id(data.media_id))
        return show_thread(await rooms.direct.get_thread(number, viewer.id), context_for(viewer, rooms))

    @delete(
        "/threads/{thread_id:str}/photo", summary="Remove the photo of a group", scope=scopes.DIRECT_WRITE
    )
    async def remove_photo(self, thread_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Delete the photo, as one of the group's admins."""
        await rooms.direct.remove_photo(_thread_id(thread_id), viewer.id)

    @put("/threads/{thread_id:str}/seen", summary="Mark as seen", status_code=204, scope=scopes.DIRECT_WRITE)
    async def see(
        self, thread_id: PathId, data: JSONBody[SeenMarker], viewer: Viewer, rooms: InjectedRooms
    ) -> None:
        """The viewer has seen everything up to this message; safe to repeat, and in any order."""
        await rooms.direct.mark_seen(_thread_id(thread_id), viewer.id, data.number)

    @put(
        "/threads/{thread_id:str}/acceptance",
        summary="Accept a request",
        status_code=204,
        scope=scopes.DIRECT_WRITE,
    )
    async def accept(self, thread_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Move a request to the inbox."""
        await rooms.direct.accept(_thread_id(thread_id), viewer.id)

    @delete("/threads/{thread_id:str}/acceptance", summary="Decline a request", scope=scopes.DIRECT_WRITE)
    async def decline(self, thread_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Remove a request; who sent it is not told."""
        await rooms.direct.decline(_thread_id(thread_id), viewer.id)

    @put("/threads/{thread_id:str}/archive", summary="Archive", status_code=204, scope=scopes.DIRECT_WRITE)
    async def archive(self, thread_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Move a conversation to one's archive."""
        await rooms.direct.archive(_thread_id(thread_id), viewer.id)

    @delete("/threads/{thread_id:str}/archive", summary="Take out of the archive", scope=scopes.DIRECT_WRITE)
    async def unarchive(self, thread_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Move a conversation back to the inbox."""
        await rooms.direct.archive(_thread_id(thread_id), viewer.id, is_archived=False)

    @put("/threads/{thread_id:str}/mute", summary="Mute", status_code=204, scope=scopes.DIRECT_WRITE)
    async def mute(
        self, thread_id: PathId, data: JSONBody[NewMute], viewer: Viewer, rooms: InjectedRooms
    ) -> None:
        """Get no notifications of a conversation for a while."""
        lasting = FOREVER if data.for_s is None else timedelta(seconds=data.for_s)
        await rooms.direct.mute(_thread_id(thread_id), viewer.id, datetime.now(UTC) + lasting)

    @delete("/threads/{thread_id:str}/mute", summary="Unmute", scope=scopes.DIRECT_WRITE)
    async def unmute(self, thread_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Get notifications of a conversation again."""
        await rooms.direct.mute(_thread_id(thread_id), viewer.id, None)

    @post(
        "/threads/{thread_id:str}/members",
        summary="Add people to a group",
        status_code=204,
        scope=scopes.DIRECT_WRITE,
    )
    async def add(
        self, thread_id: PathId, data: JSONBody[NewMembers], viewer: Viewer, rooms: InjectedRooms
    ) -> None:
        """Add people, as one of the group's admins; they read what is written from then on."""
        people = [parse_account_id(each) for each in data.account_ids]
        await rooms.direct.add_members(_thread_id(thread_id), viewer.id, people)

    @delete(
        "/threads/{thread_id:str}/members/{account_id:str}",
        summary="Remove somebody from a group, or leave it",
        scope=scopes.DIRECT_WRITE,
    )
    async def remove(
        self, thread_id: PathId, account_id: PathId, viewer: Viewer, rooms: InjectedRooms
    ) -> None:
        """Remove somebody as one of the group's admins; with one's own id, leave it."""
        await rooms.direct.remove_member(_thread_id(thread_id), viewer.id, parse_account_id(account_id))

    @put(
        "/threads/{thread_id:str}/admins/{account_id:str}",
        summary="Make a member an admin",
        status_code=204,
        scope=scopes.DIRECT_WRITE,
    )
    async def appoint(
        self, thread_id: PathId, account_id: PathId, viewer: Viewer, rooms: InjectedRooms
    ) -> None:
        """Let a member of a group name it, and add and remove people."""
        await rooms.direct.set_admin(
            _thread_id(thread_id), viewer.id, parse_account_id(account_id), is_admin=True
        )

    @delete(
        "/threads/{thread_id:str}/admins/{account_id:str}",
        summary="Dismiss an admin",
        scope=scopes.DIRECT_WRITE,
    )
    async def dismiss(
        self, thread_id: PathId, account_id: PathId, viewer: Viewer, rooms: InjectedRooms
    ) -> None:
        """The member stays in the group. When its last admin goes, the member of longest standing becomes one."""
        await rooms.direct.set_admin(
            _thread_id(thread_id), viewer.id, parse_account_id(account_id), is_admin=False
        )

    @get("/search", summary="Search messages", scope=scopes.DIRECT_READ)
    async def search(
        self,
        viewer: Viewer,
        rooms: InjectedRooms,
        *,
        q: SearchText,
        thread_id: ThreadFilter = None,
        cursor: Cursor = None,
        limit: Limit = 20,
    ) -> MessagesView:
        """Messages that have all the words, the newest first, in the conversations that the viewer is in."""
        page = await rooms.direct.search(
            viewer.id,
            q,
            thread_id=_thread_id(thread_id) if thread_id else None,
            before=decode_cursor(cursor),
            limit=limit,
        )
        return show_messages(page, context_for(viewer, rooms))

    @get("/settings", summary="Settings of direct messages", scope=scopes.DIRECT_READ)
    async def settings(self, viewer: Viewer, rooms: InjectedRooms) -> DirectSettingsBody:
        """Who may write to the viewer at all, and what notifications show."""
        found = await rooms.direct.get_settings(viewer.id)
        return DirectSettingsBody(found.audience, found.preview)

    @put("/settings", summary="Change the settings of direct messages", scope=scopes.DIRECT_WRITE)
    async def set_settings(
        self, data: JSONBody[DirectSettingsBody], viewer: Viewer, rooms: InjectedRooms
    ) -> DirectSettingsBody:
        """Conversations that were accepted go on, whatever is chosen."""
        await rooms.direct.set_settings(viewer.id, DirectSettings(data.audience, data.preview))
        return data


def _thread_id(text: str) -> ThreadId:
    return ThreadId(parse_id(text))
