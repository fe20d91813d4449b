"""The types of the direct room."""

from datetime import datetime
from typing import Literal, NewType

import msgspec

from tintype.base.ids import AccountId, MediaId, PostId
from tintype.direct.encryption.models import AttachmentId, DeviceId
from tintype.graph import VisibleAccount
from tintype.posts import Post, PostMedia
from tintype.stories import Story, StoryId

ThreadId = NewType("ThreadId", int)
MessageId = NewType("MessageId", int)
ThreadKind = Literal["pair", "group"]
MemberState = Literal["active", "requested", "declined", "left", "removed"]
MessageKind = Literal[
    "text", "media", "voice", "post", "story", "story_reply", "encrypted", "encrypted_change", "unsent"
]
Folder = Literal["inbox", "requests", "archive"]
Audience = Literal["everyone", "following", "nobody"]
Preview = Literal["text", "name", "nothing"]
DisappearsAfter = Literal["sent", "seen"]
"""From when the time of disappearing messages counts: since they were sent, or seen by everybody else."""

MAX_MEMBERS = 250
LONGEST_MESSAGE = 4_000
LONGEST_NAME = 60
LONGEST_LOCAL_ID = 64
EDIT_WITHIN_S = 15 * 60
MESSAGES_BEFORE_ACCEPTANCE = 5
"""How many messages somebody can send to a person who has not accepted their request."""
QUICK_MEMBERS = 8
"""The inboxes of threads up to this size are written by the process that sends, right after its commit."""


class Mutation(msgspec.Struct, frozen=True):
    """How a device names a change it makes in a thread: once under this id, in the order of its own count.

    `counter` is 1 for the first change that a device makes in a thread and grows by one with each that was accepted.
    """

    device_id: str
    local_id: str
    counter: int


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A message to send: a text, or an upload, a post or a story, with or without one."""

    text: str = ""
    reply_to: MessageId | None = None
    media_id: MediaId | None = None
    post_id: PostId | None = None
    story_id: StoryId | None = None
    answers_story: bool = False
    """The text answers the story, instead of sharing it."""
    is_voice: bool = False
    """The upload is a voice message; found out when it is attached."""


class SharedPost(msgspec.Struct, frozen=True):
    """A post in a message, as the reader may see it."""

    post: Post
    author: VisibleAccount


class VoiceMessage(msgspec.Struct, frozen=True):
    """The recording of a message."""

    media_id: MediaId
    folder: str
    duration_ms: int
    waveform: bytes
    """Peaks of equal parts, 0 to 255."""


class Sent(msgspec.Struct, frozen=True):
    """What became of a message that was sent: the answer to the device, however often it asks."""

    message_id: MessageId
    number: int
    """The place in the thread, which grows by one with each message."""


class Sealed(msgspec.Struct, frozen=True):
    """What the server has of an encrypted message."""

    ciphertext: bytes
    epoch: int
    device_id: DeviceId
    """Which of its author's devices sent it."""
    attachment_id: AttachmentId | None


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A message as a member of the thread may read it."""

    id: MessageId
    thread_id: ThreadId
    number: int
    account_id: AccountId
    author: VisibleAccount | None
    """None for people who are gone, and for those whom a block hides from the reader."""
    kind: MessageKind
    text: str
    is_hidden: bool = False
    """A block lies between reader and author: nothing of the message is shown."""
    reply_to: "Quote | None" = None
    media: PostMedia | None = None
    """The photo or video of a message of the kind `media`."""
    voice: VoiceMessage | None = None
    """The recording of a message of the kind `voice`."""
    post: SharedPost | None = None
    """What a message of the kind `post` shares; None where the reader may not see it, for whatever reason."""
    story: Story | None = None
    """Likewise for stories, and replies to them."""
    sealed: Sealed | None = None
    """Of the kinds `encrypted` and `encrypted_change`, a reaction or an edit."""
    edited_at: datetime | None = None
    expires_at: datetime | None = None
    after_seen_s: int | None = None
    """It ends so long after everybody else has seen it, at `expires_at` at the latest; None where that is certain."""
    reactions: tuple[tuple[AccountId, str], ...] = ()


class Quote(msgspec.Struct, frozen=True):
    """The beginning of the message that another one replies to."""

    message_id: MessageId
    account_id: AccountId | None
    """None where the message is not the reader's to see any more."""
    text: str


class MessagePush(msgspec.Struct, frozen=True):
    """A message that somebody's browsers are to be told of."""

    account_id: AccountId
    thread_id: ThreadId
    message_id: MessageId
    number: int


class Member(msgspec.Struct, frozen=True):
    """Somebody in a thread, as another member sees them."""

    account: VisibleAccount
    is_admin: bool
    is_invited: bool
    """Has not accepted yet."""
    seen_number: int
    """How far they have read; 0 while they have not accepted."""
    seen_at: datetime | None


class Thread(msgspec.Struct, frozen=True, kw_only=True):
    """A thread as one of its members sees it."""

    id: ThreadId
    kind: ThreadKind
    is_encrypted: bool
    name: str
    state: MemberState
    is_admin: bool
    disappear_s: int | None
    disappears_after: DisappearsAfter
    last_number: int
    seen_number: int
    member_count: int
    members: list[Member]
    photo: PostMedia | None
    """Of a group that has one."""
    is_archived: bool
    muted_until: datetime | None
    last_counter: int | None = None
    """How far the asking device has come with its changes."""


class InboxEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A thread in a list of threads."""

    thread_id: ThreadId
    kind: ThreadKind
    is_encrypted: bool
    name: str
    people: list[VisibleAccount]
    """Some of the others in the thread, those of longest standing first."""
    photo: PostMedia | None
    member_count: int
    unread_count: int
    last_id: int
    last_message: Message | None
    state: MemberState
    is_archived: bool
    muted_until: datetime | None


class Unread(msgspec.Struct, frozen=True):
    """What an inbox's badge shows."""

    threads: int
    requests: int


class DirectSettings(msgspec.Struct, frozen=True):
    """Who may write to somebody at all, and what notifications of messages show."""

    audience: Audience = "everyone"
    preview: Preview = "text"
