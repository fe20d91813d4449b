"""End-to-end encrypted conversations over HTTP: the group, its commits in their order, ciphertexts."""

from typing import Annotated

import msgspec
from litestar import Controller, get, post
from litestar.params import JSONBody, QueryParameter
from litestar.response import Stream

from tintype.api.http import scopes
from tintype.api.http.base64url import (
    CommitBytes,
    MessageBytes,
    SmallBytes,
    WelcomeBytes,
    decode_bytes,
    encode_bytes,
)
from tintype.api.http.dependencies import InjectedRooms, PathId, Viewer, parse_account_id, parse_id
from tintype.api.routes.direct_messages import DeviceChange
from tintype.api.views.context import context_for
from tintype.api.views.direct import SentView, show_sent
from tintype.api.views.encryption import (
    CommitsView,
    CommittedView,
    GroupRefView,
    GroupView,
    MemberDevicesView,
    WelcomeView,
    show_commit,
    show_group,
    show_member_device,
)
from tintype.base.ids import IdText
from tintype.direct import (
    AttachmentId,
    DeviceId,
    MessageId,
    Mutation,
    NewCommit,
    SealedDraft,
    ThreadId,
)

Number = Annotated[int, msgspec.Meta(ge=0, le=2_147_483_647)]
Epoch = Annotated[int, msgspec.Meta(ge=0, le=9_007_199_254_740_991)]
Device = Annotated[
    str, QueryParameter(description="A device of the viewer's.", pattern=r"^[1-9][0-9]{0,18}$")
]
Since = Annotated[int, QueryParameter(description="The first epoch.", ge=0, le=9_007_199_254_740_991)]
CommitLimit = Annotated[int, QueryParameter(description="How many at most.", ge=1, le=50)]


class GroupPosition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A device of the viewer's, and the group that it knows."""

    device_id: IdText
    group_number: Number


class NewCommitBody(GroupPosition, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A commit as a PublicMessage, with the welcome for the devices that it adds."""

    epoch: Epoch
    """In which it was made."""
    commit: CommitBytes
    welcome: WelcomeBytes | None = None
    add_members: Annotated[list[IdText], msgspec.Meta(max_length=250)] = []
    """People who are not in the conversation yet: the commit adds their devices, an admin sends it."""
    remove_members: Annotated[list[IdText], msgspec.Meta(max_length=250)] = []
    """People whom the commit removes with all their devices: an admin sends it."""


class NewDeparture(GroupPosition, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Proposals to remove the viewer's own leaves, each a PublicMessage."""

    epoch: Epoch
    proposals: Annotated[list[SmallBytes], msgspec.Meta(max_length=10)] = []


class NewEncryptedMessage(DeviceChange, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A message as a PrivateMessage of the group's current epoch; `device_id` is that of the registered device."""

    group_number: Number
    epoch: Epoch
    ciphertext: MessageBytes
    attachment_id: IdText | None = None
    """An encrypted file that was uploaded for it."""
    is_change: bool = False
    """A reaction or an edit: devices hear of it, and it counts as no new message."""


class EncryptedThreadsApi(Controller):
    """Encrypted conversations."""

    path = "/api/v1/direct/threads/{thread_id:str}/encryption"
    tags = ("End-to-end encryption",)

    @get("/", summary="The group of a conversation", scope=scopes.DIRECT_READ)
    async def group(self, thread_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> GroupView:
        """Which devices are in the group, which are missing, and what the next commit must do."""
        return show_group(await rooms.direct.encryption.get_group(_thread_id(thread_id), viewer.id))

    @get("/devices", summary="Devices in a conversation", scope=scopes.DIRECT_READ)
    async def devices(self, thread_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> MemberDevicesView:
        """The devices of everybody in the conversation, with their keys to compare."""
        found = await rooms.direct.encryption.list_member_devices(_thread_id(thread_id), viewer.id)
        return MemberDevicesView([show_member_device(each) for each in found])

    @post("/group", summary="Begin the group anew", scope=scopes.DIRECT_WRITE)
    async def begin(
        self, thread_id: PathId, data: JSONBody[GroupPosition], viewer: Viewer, rooms: InjectedRooms
    ) -> GroupRefView:
        """Replace a group that nobody has committed to, or whose devices are all gone."""
        number = await rooms.direct.encryption.begin_group_anew(
            _thread_id(thread_id), viewer.id, _device_id(data.device_id), group_number=data.group_number
        )
        return GroupRefView(number)

    @post("/commits", summary="Send a commit", scope=scopes.DIRECT_WRITE)
    async def commit(
        self, thread_id: PathId, data: JSONBody[NewCommitBody], viewer: Viewer, rooms: InjectedRooms
    ) -> CommittedView:
        """Make this the one commit of its epoch; `epoch_taken` where another came first. Safe to repeat."""
        given = NewCommit(
            device_id=_device_id(data.device_id),
            group_number=data.group_number,
            epoch=data.epoch,
            content=decode_bytes(data.commit),
            welcome=decode_bytes(data.welcome) if data.welcome is not None else None,
            add_members=tuple(parse_account_id(each) for each in data.add_members),
            remove_members=tuple(parse_account_id(each) for each in data.remove_members),
        )
        taken = await rooms.direct.encryption.commit(_thread_id(thread_id), viewer.id, given)
        return CommittedView(taken.epoch, taken.number)

    @get("/commits", summary="Commits", scope=scopes.DIRECT_READ)
    async def commits(
        self,
        thread_id: PathId,
        viewer: Viewer,
        rooms: InjectedRooms,
        *,
        device_id: Device,
        since: Since = 0,
        limit: CommitLimit = 20,
    ) -> CommitsView:
        """Commits from an epoch on, in their order, as far as the device was in the group."""
        found = await rooms.direct.encryption.page_commits(
            _thread_id(thread_id), viewer.id, _device_id(device_id), since=since, limit=limit
        )
        return CommitsView([show_commit(each) for each in found])

    @get("/welcome", summary="The welcome of a device", scope=scopes.DIRECT_READ)
    async def welcome(
        self, thread_id: PathId, viewer: Viewer, rooms: InjectedRooms, device_id: Device
    ) -> WelcomeView:
        """By which a device joins the group that it was added to."""
        content, epoch = await rooms.direct.encryption.get_welcome(
            _thread_id(thread_id), viewer.id, _device_id(device_id)
        )
        return WelcomeView(epoch, encode_bytes(content))

    @post("/departure", summary="Leave an encrypted group", status_code=204, scope=scopes.DIRECT_WRITE)
    async def leave(
        self, thread_id: PathId, data: JSONBody[NewDeparture], viewer: Viewer, rooms: InjectedRooms
    ) -> None:
        """Leave, and propose the removal of one's own devices, which the next commit takes up."""
        await rooms.direct.encryption.leave(
            _thread_id(thread_id),
            viewer.id,
            _device_id(data.device_id),
            group_number=data.group_number,
            epoch=data.epoch,
            proposals=[decode_bytes(each) for each in data.proposals],
        )

    @post("/messages", summary="Send an encrypted message", scope=scopes.DIRECT_WRITE)
    async def send(
        self, thread_id: PathId, data: JSONBody[NewEncryptedMessage], viewer: Viewer, rooms: InjectedRooms
    ) -> SentView:
        """Send a ciphertext, once however often it is sent under the same local id, and in the device's order."""
        number = _thread_id(thread_id)
        draft = SealedDraft(
            group_number=data.group_number,
            epoch=data.epoch,
            ciphertext=decode_bytes(data.ciphertext),
            attachment_id=AttachmentId(parse_id(data.attachment_id)) if data.attachment_id else None,
            is_change=data.is_change,
        )
        mutation = Mutation(data.device_id, data.local_id, data.counter)
        sent = await rooms.direct.encryption.send(number, viewer.id, draft, mutation)
        return show_sent(number, sent, context_for(viewer, rooms))

    @get(
        "/messages/{message_id:str}/attachment",
        summary="The encrypted file of a message",
        scope=scopes.DIRECT_READ,
        media_type="application/octet-stream",
    )
    async def attachment(
        self, thread_id: PathId, message_id: PathId, viewer: Viewer, rooms: InjectedRooms
    ) -> Stream:
        """The bytes as the sender's device has encrypted them."""
        opened = await rooms.direct.encryption.open_attachment(
            _thread_id(thread_id), MessageId(parse_id(message_id)), viewer.id
        )
        headers = {"Content-Length": str(opened.size_bytes), "Cache-Control": "private, no-store"}
        return Stream(opened.chunks, media_type="application/octet-stream", headers=headers)


def _thread_id(text: str) -> ThreadId:
    return ThreadId(parse_id(text))


def _device_id(text: str) -> DeviceId:
    return DeviceId(parse_id(text))
