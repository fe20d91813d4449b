"""The types of encrypted threads."""

from datetime import datetime
from typing import NewType

import msgspec

from tintype.base.ids import AccountId

DeviceId = NewType("DeviceId", int)
AttachmentId = NewType("AttachmentId", int)

MAX_DEVICES = 10
MAX_KEY_PACKAGES = 100
KEY_PACKAGE_DAYS = 120
LARGEST_KEY_PACKAGE = 4_096
LARGEST_COMMIT = 256 * 1024
LARGEST_WELCOME = 384 * 1024
LARGEST_CIPHERTEXT = 64 * 1024
LARGEST_ATTACHMENT = 100 * 1024 * 1024
LARGEST_HEADER = 4_096
LARGEST_PART = 256 * 1024
MAX_PARTS = 2_000
LARGEST_BACKUP = 64 * 1024 * 1024
MAX_LEAVES = 1_000


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """A device of somebody's own."""

    id: DeviceId
    account_id: AccountId
    name: str
    signature_key: bytes
    session_id: int
    seen_at: datetime
    key_packages: int
    """How many are left to be handed out."""
    has_last_resort: bool


class MemberDevice(msgspec.Struct, frozen=True):
    """A device of somebody in a thread, as other members see it."""

    id: DeviceId
    account_id: AccountId
    name: str
    signature_key: bytes


class ClaimedKeyPackage(msgspec.Struct, frozen=True):
    """A key package that was handed out."""

    account_id: AccountId
    device_id: DeviceId
    content: bytes
    is_last_resort: bool


class Leaf(msgspec.Struct, frozen=True):
    """A leaf of a thread's tree."""

    leaf_index: int
    account_id: AccountId
    device_id: DeviceId
    signature_key: bytes
    added_epoch: int
    is_gone: bool
    """The next commit must remove it."""


class GroupState(msgspec.Struct, frozen=True):
    """The MLS group of a thread as the server knows it."""

    group_number: int
    epoch: int
    leaves: list[Leaf]
    missing: list[MemberDevice]
    """Devices of members that are not in the tree yet."""
    proposals: list[bytes]
    """Removals for the next commit to take up."""


class StoredCommit(msgspec.Struct, frozen=True):
    """A commit in the order of epochs."""

    epoch: int
    account_id: AccountId
    device_id: DeviceId
    number: int
    """Of the last message before it."""
    content: bytes
    proposals: list[bytes]
    """Of others, which it takes up: to be applied first."""


class NewCommit(msgspec.Struct, frozen=True, kw_only=True):
    """A commit that a device wants to be the one of its epoch."""

    device_id: DeviceId
    group_number: int
    epoch: int
    content: bytes
    welcome: bytes | None
    add_members: tuple[AccountId, ...] = ()
    remove_members: tuple[AccountId, ...] = ()


class Committed(msgspec.Struct, frozen=True):
    """The epoch that a commit has begun, and the number of the last message before it."""

    epoch: int
    number: int


class SealedDraft(msgspec.Struct, frozen=True, kw_only=True):
    """An encrypted message to send."""

    group_number: int
    epoch: int
    ciphertext: bytes
    attachment_id: AttachmentId | None = None
    is_change: bool = False
    """A reaction or an edit: it is told to devices, and counts as no new message."""


class Backup(msgspec.Struct, frozen=True):
    """A backup, as far as the server can tell."""

    version: int
    header: bytes
    created_at: datetime
    part_count: int
    size_bytes: int


class BackupPart(msgspec.Struct, frozen=True):
    """One part of a backup."""

    name: str
    version: int
    content: bytes
