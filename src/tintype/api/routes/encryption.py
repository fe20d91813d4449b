"""One's own side of end-to-end encryption over HTTP: devices, key packages, encrypted files, the backup."""

from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from litestar import Controller, Request, delete, get, post, put
from litestar.openapi.spec import OpenAPIMediaType, OpenAPIType, Operation, RequestBody, Schema
from litestar.params import JSONBody, PathParameter, QueryParameter

from tintype.api.http import scopes
from tintype.api.http.base64url import CommitBytes, SmallBytes, decode_bytes
from tintype.api.http.dependencies import (
    CurrentSession,
    InjectedRooms,
    PathId,
    Viewer,
    parse_account_id,
    parse_id,
)
from tintype.api.http.multipart import body_chunks
from tintype.api.views.encryption import (
    AttachmentRefView,
    BackupPartsView,
    BackupPartView,
    BackupVersionView,
    BackupView,
    DeviceRefView,
    EncryptionDevicesView,
    KeyPackagesView,
    WaitingKeyPackagesView,
    show_backup,
    show_device,
    show_key_package,
    show_part,
)
from tintype.base.ids import IdText
from tintype.direct import LARGEST_ATTACHMENT, BackupNotFound, DeviceId, ThreadId

PartName = Annotated[
    str, PathParameter(description="The device's own name of a part.", pattern=r"^[A-Za-z0-9._-]{1,64}$")
]
After = Annotated[
    str, QueryParameter(description="The last name of the page before.", pattern=r"^[A-Za-z0-9._-]{0,64}$")
]
PartLimit = Annotated[int, QueryParameter(description="How many at most.", ge=1, le=20)]
Version = Annotated[int, msgspec.Meta(ge=0, le=9_007_199_254_740_991)]


class NewDevice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A device, by its name and the public key of its signatures (Ed25519)."""

    name: Annotated[str, msgspec.Meta(max_length=200, description="1 to 60 characters.")]
    signature_key: SmallBytes


class NewKeyPackages(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Key packages, each an MLSMessage; and one of last resort, which replaces the one before."""

    key_packages: Annotated[list[SmallBytes], msgspec.Meta(max_length=100)] = []
    last_resort: SmallBytes | None = None


class KeyPackageClaim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whose devices are to be added."""

    account_ids: Annotated[list[IdText], msgspec.Meta(min_length=1, max_length=250)]
    device_ids: Annotated[list[IdText], msgspec.Meta(max_length=1_000)] | None = None
    """Only these of their devices."""
    thread_id: IdText | None = None
    """The conversation that one is in with them already."""


class NewBackup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A backup under a new key, in place of the one with the expected version."""

    header: SmallBytes
    expected_version: Annotated[int, msgspec.Meta(ge=0, le=9_007_199_254_740_991, description="0: none.")]


class BackupHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The key of a backup under another passphrase."""

    header: SmallBytes
    version: Version


class NewBackupPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part, in place of the one with the expected version."""

    backup_version: Version
    expected_version: Annotated[int, msgspec.Meta(ge=0, le=9_007_199_254_740_991, description="0: none.")]
    content: CommitBytes


@dataclass
class AttachmentOperation(Operation):
    """Describes the body in OpenAPI: it is streamed, so it is not a parameter of the route."""

    def __post_init__(self) -> None:
        """Add the bytes as the request body."""
        content = Schema(type=OpenAPIType.STRING, content_media_type="application/octet-stream")
        self.request_body = RequestBody(
            {"application/octet-stream": OpenAPIMediaType(schema=content)}, required=True
        )


class EncryptionApi(Controller):
    """Devices, key packages, encrypted files and the backup of the viewer."""

    path = "/api/v1/direct/encryption"
    tags = ("End-to-end encryption",)

    @post("/devices", summary="Register a device", scope=scopes.DIRECT_WRITE)
    async def register(
        self, data: JSONBody[NewDevice], current: CurrentSession, rooms: InjectedRooms
    ) -> DeviceRefView:
        """Let this device read encrypted messages, until its session ends or it is removed."""
        device_id = await rooms.direct.encryption.register_device(
            current.account_id,
            current.session_id,
            name=data.name,
            signature_key=decode_bytes(data.signature_key),
        )
        return DeviceRefView(str(current.account_id), str(device_id))

    @get("/devices", summary="Your devices", scope=scopes.DIRECT_READ)
    async def devices(self, current: CurrentSession, rooms: InjectedRooms) -> EncryptionDevicesView:
        """The devices on which the viewer reads encrypted messages, and how many key packages each has left."""
        found = await rooms.direct.encryption.list_devices(current.account_id)
        shown = [show_device(each, current.session_id) for each in found]
        return EncryptionDevicesView(str(current.account_id), shown)

    @delete("/devices/{device_id:str}", summary="Remove a device", scope=scopes.DIRECT_WRITE)
    async def remove(self, device_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """The device reads nothing that is sent from then on."""
        await rooms.direct.encryption.remove_device(viewer.id, _device_id(device_id))

    @post("/devices/{device_id:str}/key-packages", summary="Upload key packages", scope=scopes.DIRECT_WRITE)
    async def upload(
        self, device_id: PathId, data: JSONBody[NewKeyPackages], viewer: Viewer, rooms: InjectedRooms
    ) -> WaitingKeyPackagesView:
        """Store key packages by which others add the device to conversations; at most 100 wait."""
        waiting = await rooms.direct.encryption.upload_key_packages(
            viewer.id,
            _device_id(device_id),
            [decode_bytes(each) for each in data.key_packages],
            last_resort=decode_bytes(data.last_resort) if data.last_resort is not None else None,
        )
        return WaitingKeyPackagesView(waiting)

    @post("/key-packages/claims", summary="Take key packages", scope=scopes.DIRECT_WRITE)
    async def claim(
        self, data: JSONBody[KeyPackageClaim], viewer: Viewer, rooms: InjectedRooms
    ) -> KeyPackagesView:
        """One key package of each device of people to whom the viewer may write, or is in a conversation with."""
        claimed = await rooms.direct.encryption.claim_key_packages(
            viewer.id,
            [parse_account_id(each) for each in data.account_ids],
            device_ids=None if data.device_ids is None else [_device_id(each) for each in data.device_ids],
            thread_id=ThreadId(parse_id(data.thread_id)) if data.thread_id else None,
        )
        return KeyPackagesView([show_key_package(each) for each in claimed])

    @post(
        "/attachments",
        summary="Upload an encrypted file",
        request_max_body_size=None,
        operation_class=AttachmentOperation,
        scope=scopes.DIRECT_WRITE,
    )
    async def attach(
        self, request: Request[Any, Any, Any], viewer: Viewer, rooms: InjectedRooms
    ) -> AttachmentRefView:
        """Store a file that the device has encrypted, at most 100 MiB, for a message of the next day."""
        chunks = body_chunks(request, max_bytes=LARGEST_ATTACHMENT + 1)
        return AttachmentRefView(str(await rooms.direct.encryption.upload_attachment(viewer.id, chunks)))

    @get("/backup", summary="Your backup", scope=scopes.DIRECT_READ)
    async def backup(self, viewer: Viewer, rooms: InjectedRooms) -> BackupView:
        """What is needed to open the backup with a passphrase, and how large it is."""
        found = await rooms.direct.encryption.backups.find(viewer.id)
        if found is None:
            raise BackupNotFound
        return show_backup(found)

    @put("/backup", summary="Begin a backup", scope=scopes.DIRECT_WRITE)
    async def begin_backup(
        self, data: JSONBody[NewBackup], viewer: Viewer, rooms: InjectedRooms
    ) -> BackupVersionView:
        """Begin a backup under a new key; the parts of the one before are deleted."""
        version = await rooms.direct.encryption.backups.begin(
            viewer.id, decode_bytes(data.header), expected=data.expected_version
        )
        return BackupVersionView(version)

    @put("/backup/header", summary="Change the passphrase", status_code=204, scope=scopes.DIRECT_WRITE)
    async def rewrap(self, data: JSONBody[BackupHeader], viewer: Viewer, rooms: InjectedRooms) -> None:
        """The same key under another passphrase; parts stay as they are."""
        await rooms.direct.encryption.backups.rewrap(
            viewer.id, decode_bytes(data.header), version=data.version
        )

    @delete("/backup", summary="Delete the backup", scope=scopes.DIRECT_WRITE)
    async def delete_backup(self, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Delete the backup and all its parts."""
        await rooms.direct.encryption.backups.delete(viewer.id)

    @get("/backup/parts", summary="Parts of your backup", scope=scopes.DIRECT_READ)
    async def parts(
        self, viewer: Viewer, rooms: InjectedRooms, after: After = "", limit: PartLimit = 10
    ) -> BackupPartsView:
        """Parts in the order of their names."""
        found = await rooms.direct.encryption.backups.page_parts(viewer.id, after=after, limit=limit)
        return BackupPartsView([show_part(each) for each in found])

    @get("/backup/parts/{name:str}", summary="One part of your backup", scope=scopes.DIRECT_READ)
    async def part(self, name: PartName, viewer: Viewer, rooms: InjectedRooms) -> BackupPartView:
        """A part as it is now."""
        return show_part(await rooms.direct.encryption.backups.get_part(viewer.id, name))

    @put("/backup/parts/{name:str}", summary="Write a part of the backup", scope=scopes.DIRECT_WRITE)
    async def put_part(
        self, name: PartName, data: JSONBody[NewBackupPart], viewer: Viewer, rooms: InjectedRooms
    ) -> BackupVersionView:
        """Write a part, unless another device has written it since."""
        version = await rooms.direct.encryption.backups.put_part(
            viewer.id,
            name,
            decode_bytes(data.content),
            backup_version=data.backup_version,
            expected=data.expected_version,
        )
        return BackupVersionView(version)


def _device_id(text: str) -> DeviceId:
    return DeviceId(parse_id(text))
