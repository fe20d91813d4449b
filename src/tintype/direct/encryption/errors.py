"""Errors of encrypted threads."""

from tintype.base.errors import Conflict, Forbidden, Invalid, NotFound


class DeviceNotFound(NotFound):
    """That device does not exist, or it is not yours."""

    code = "device_not_found"


class DeviceInvalid(Invalid):
    """A device has a name of 1 to 60 characters and a signature key of 32 bytes."""

    code = "device_invalid"


class TooManyDevices(Conflict):
    """You can read encrypted messages on at most 10 devices; remove one first."""

    code = "too_many_devices"


class EncodingInvalid(Invalid):
    """That is not a valid MLS message."""

    code = "encoding_invalid"


class KeyPackageInvalid(Invalid):
    """A key package must name your account and device, be signed with its key, and be good for at most 120 days."""

    code = "key_package_invalid"


class TooManyKeyPackages(Conflict):
    """A device has at most 100 key packages waiting."""

    code = "too_many_key_packages"


class EncryptionUnavailable(Conflict):
    """They have no device yet that can read encrypted messages."""

    code = "encryption_unavailable"


class ThreadEncrypted(Conflict):
    """The conversation is end-to-end encrypted; only your device can do that."""

    code = "thread_encrypted"


class ThreadNotEncrypted(Conflict):
    """The conversation is not end-to-end encrypted."""

    code = "thread_not_encrypted"


class EpochTaken(Conflict):
    """Another commit came first; apply it, then try again."""

    code = "epoch_taken"


class EpochStale(Conflict):
    """Keys have changed since; apply the commits that you do not have, then encrypt the message again."""

    code = "epoch_stale"


class CommitNeeded(Conflict):
    """Somebody who is gone could still read this; remove their devices by a commit first."""

    code = "commit_needed"


class CommitInvalid(Invalid):
    """That commit does not fit the conversation: its group, its sender, or whom it adds or removes."""

    code = "commit_invalid"


class DeviceNotInGroup(Forbidden):
    """Your device has not been added to the conversation yet; another one must add it."""

    code = "device_not_in_group"


class GroupInUse(Conflict):
    """Other devices still hold the keys of this conversation; they can add yours."""

    code = "group_in_use"


class CiphertextInvalid(Invalid):
    """An encrypted message has at most 64 KiB."""

    code = "ciphertext_invalid"


class AttachmentInvalid(Invalid):
    """An encrypted message carries one file that you uploaded within the last day and have not used yet."""

    code = "attachment_invalid"


class AttachmentTooLarge(Invalid):
    """An encrypted file has 1 byte to 100 MiB."""

    code = "attachment_too_large"


class AttachmentNotFound(NotFound):
    """That message carries no file, or it is gone."""

    code = "attachment_not_found"


class BackupNotFound(NotFound):
    """There is no backup."""

    code = "backup_not_found"


class BackupInvalid(Invalid):
    """A backup has a header of up to 4 KiB and parts of up to 256 KiB with plain names."""

    code = "backup_invalid"


class BackupChanged(Conflict):
    """Another device has changed the backup; read it, merge, and try again."""

    code = "backup_changed"


class BackupFull(Conflict):
    """A backup has at most 2,000 parts and 64 MiB."""

    code = "backup_full"
