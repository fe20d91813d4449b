"""End-to-end encryption: devices, key packages, groups and backups, as far as the server knows them."""

from datetime import datetime

import msgspec

from tintype.api.http.base64url import encode_bytes
from tintype.direct import (
    Backup,
    BackupPart,
    ClaimedKeyPackage,
    EncryptionDevice,
    GroupState,
    MemberDevice,
    StoredCommit,
)


class EncryptionDeviceView(msgspec.Struct, frozen=True):
    """A device of one's own that can read encrypted messages."""

    device_id: str
    name: str
    signature_key: str
    is_current: bool
    """It was registered by the session that asks."""
    seen_at: datetime
    key_packages: int
    """How many are left to be handed out: upload more when they get few."""
    has_last_resort: bool


class EncryptionDevicesView(msgspec.Struct, frozen=True):
    """One's own devices."""

    account_id: str
    devices: list[EncryptionDeviceView]


class DeviceRefView(msgspec.Struct, frozen=True):
    """A device that was registered. Its credential says `account_id.device_id`."""

    account_id: str
    device_id: str


class WaitingKeyPackagesView(msgspec.Struct, frozen=True):
    """How many key packages of a device wait to be handed out."""

    key_packages: int


class KeyPackageView(msgspec.Struct, frozen=True):
    """A key package that was handed out."""

    account_id: str
    device_id: str
    key_package: str
    """An MLSMessage in base64url."""
    is_last_resort: bool


class KeyPackagesView(msgspec.Struct, frozen=True):
    """One key package for each device; devices without any are missing."""

    key_packages: list[KeyPackageView]


class MemberDeviceView(msgspec.Struct, frozen=True):
    """A device of somebody in a conversation."""

    account_id: str
    device_id: str
    name: str
    signature_key: str


class MemberDevicesView(msgspec.Struct, frozen=True):
    """The devices of everybody in a conversation."""

    devices: list[MemberDeviceView]


class LeafView(msgspec.Struct, frozen=True):
    """A leaf of the ratchet tree."""

    leaf_index: int
    account_id: str
    device_id: str
    signature_key: str
    is_gone: bool
    """The next commit must remove it."""


class GroupView(msgspec.Struct, frozen=True):
    """The MLS group of a conversation; its group id is `thread_id.group_number`."""

    group_number: int
    epoch: int
    leaves: list[LeafView]
    missing: list[MemberDeviceView]
    """Devices of members that the next commit should add."""
    proposals: list[str]
    """Removals that the next commit takes up, each a PublicMessage."""


class GroupRefView(msgspec.Struct, frozen=True):
    """A group that was begun."""

    group_number: int


class CommitView(msgspec.Struct, frozen=True):
    """The commit of an epoch, which begins the next one."""

    epoch: int
    account_id: str
    device_id: str
    number: int
    """The last message before it."""
    commit: str
    proposals: list[str]
    """Of others, which it takes up: apply them first."""


class CommitsView(msgspec.Struct, frozen=True):
    """Commits in their order; ask again from the last epoch on until there are none."""

    commits: list[CommitView]


class CommittedView(msgspec.Struct, frozen=True):
    """The epoch that a commit has begun."""

    epoch: int
    number: int


class WelcomeView(msgspec.Struct, frozen=True):
    """By which a device joins a group."""

    epoch: int
    welcome: str


class AttachmentRefView(msgspec.Struct, frozen=True):
    """An encrypted file that was stored."""

    attachment_id: str


class BackupView(msgspec.Struct, frozen=True):
    """A backup; only its owner's passphrase opens it."""

    version: int
    header: str
    created_at: datetime
    part_count: int
    size_bytes: int


class BackupVersionView(msgspec.Struct, frozen=True):
    """The version that was written."""

    version: int


class BackupPartView(msgspec.Struct, frozen=True):
    """A part of a backup."""

    name: str
    version: int
    content: str


class BackupPartsView(msgspec.Struct, frozen=True):
    """Parts by their names; ask again after the last name until there are none."""

    parts: list[BackupPartView]


def show_device(device: EncryptionDevice, session_id: int) -> EncryptionDeviceView:
    """A device of one's own."""
    return EncryptionDeviceView(
        str(device.id),
        device.name,
        encode_bytes(device.signature_key),
        device.session_id == session_id,
        device.seen_at,
        device.key_packages,
        device.has_last_resort,
    )


def show_member_device(device: MemberDevice) -> MemberDeviceView:
    """A device of somebody in a conversation."""
    return MemberDeviceView(
        str(device.account_id), str(device.id), device.name, encode_bytes(device.signature_key)
    )


def show_key_package(claimed: ClaimedKeyPackage) -> KeyPackageView:
    """A key package that was handed out."""
    return KeyPackageView(
        str(claimed.account_id),
        str(claimed.device_id),
        encode_bytes(claimed.content),
        claimed.is_last_resort,
    )


def show_group(group: GroupState) -> GroupView:
    """The MLS group of a conversation."""
    leaves = [
        LeafView(
            each.leaf_index,
            str(each.account_id),
            str(each.device_id),
            encode_bytes(each.signature_key),
            each.is_gone,
        )
        for each in group.leaves
    ]
    missing = [show_member_device(each) for each in group.missing]
    return GroupView(
        group.group_number, group.epoch, leaves, missing, [encode_bytes(each) for each in group.proposals]
    )


def show_commit(commit: StoredCommit) -> CommitView:
    """A commit in the order of epochs."""
    return CommitView(
        commit.epoch,
        str(commit.account_id),
        str(commit.device_id),
        commit.number,
        encode_bytes(commit.content),
        [encode_bytes(each) for each in commit.proposals],
    )


def show_backup(backup: Backup) -> BackupView:
    """A backup without its parts."""
    return BackupView(
        backup.version, encode_bytes(backup.header), backup.created_at, backup.part_count, backup.size_bytes
    )


def show_part(part: BackupPart) -> BackupPartView:
    """A part of a backup."""
    return BackupPartView(part.name, part.version, encode_bytes(part.content))
