"""Direct messages: conversations of two people and of groups.

Owns, on the shard of the thread, `threads`, `thread_members`, `messages`, `message_reactions` and what devices have
done (`thread_devices`, `thread_mutations`); on the shard of each person their `inbox` and `direct_settings`. A pair's
thread lies on the shard that the two ids hash to, so that there is exactly one (docs/adr/0073).

Of end-to-end encrypted threads it owns the tree (`thread_leaves`), `thread_commits` and `thread_proposals` with the
thread, and with each person their `encryption_devices`, `key_packages`, `encrypted_attachments` and backup
(`encryption_backups`, `encryption_backup_parts`): keys and texts it never has (docs/adr/0078).
"""

from tintype.direct.dependencies import DirectDependencies
from tintype.direct.encryption.errors import BackupNotFound
from tintype.direct.encryption.events import EncryptionDevicesChanged
from tintype.direct.encryption.models import (
    LARGEST_ATTACHMENT,
    AttachmentId,
    Backup,
    BackupPart,
    ClaimedKeyPackage,
    Committed,
    DeviceId,
    GroupState,
    Leaf,
    MemberDevice,
    NewCommit,
    SealedDraft,
    StoredCommit,
)
from tintype.direct.encryption.models import Device as EncryptionDevice
from tintype.direct.encryption.service import Encryption
from tintype.direct.encryption.store import QUERIES as ENCRYPTION_QUERIES
from tintype.direct.errors import (
    CounterUsed,
    EarlierMissing,
    MayNotWrite,
    MessageInvalid,
    MessageNotFound,
    RecipientUnavailable,
    RequestPending,
    ThreadNotFound,
)
from tintype.direct.events import MessageChanged, MessageSent, ThreadChanged, ThreadSeen
from tintype.direct.models import (
    Audience,
    DirectSettings,
    DisappearsAfter,
    Draft,
    Folder,
    InboxEntry,
    Member,
    MemberState,
    Message,
    MessageId,
    MessageKind,
    MessagePush,
    Mutation,
    Preview,
    Quote,
    Sealed,
    Sent,
    SharedPost,
    Thread,
    ThreadId,
    ThreadKind,
    Unread,
    VoiceMessage,
)
from tintype.direct.moderate import Evidence
from tintype.direct.service import Direct
from tintype.direct.store import QUERIES

__all__ = [
    "ENCRYPTION_QUERIES",
    "LARGEST_ATTACHMENT",
    "QUERIES",
    "AttachmentId",
    "Audience",
    "Backup",
    "BackupNotFound",
    "BackupPart",
    "ClaimedKeyPackage",
    "Committed",
    "CounterUsed",
    "DeviceId",
    "Direct",
    "DirectDependencies",
    "DirectSettings",
    "DisappearsAfter",
    "Draft",
    "EarlierMissing",
    "Encryption",
    "EncryptionDevice",
    "EncryptionDevicesChanged",
    "Evidence",
    "Folder",
    "GroupState",
    "InboxEntry",
    "Leaf",
    "MayNotWrite",
    "Member",
    "MemberDevice",
    "MemberState",
    "Message",
    "MessageChanged",
    "MessageId",
    "MessageInvalid",
    "MessageKind",
    "MessageNotFound",
    "MessagePush",
    "MessageSent",
    "Mutation",
    "NewCommit",
    "Preview",
    "Quote",
    "RecipientUnavailable",
    "RequestPending",
    "Sealed",
    "SealedDraft",
    "Sent",
    "SharedPost",
    "StoredCommit",
    "Thread",
    "ThreadChanged",
    "ThreadId",
    "ThreadKind",
    "ThreadNotFound",
    "ThreadSeen",
    "Unread",
    "VoiceMessage",
]
