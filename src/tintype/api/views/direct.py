"""Direct messages: threads, the inbox and messages."""

from datetime import datetime

import msgspec

from tintype.api.http.base64url import encode_bytes
from tintype.api.http.cursors import next_page
from tintype.api.views.context import ViewContext
from tintype.api.views.media import MediaView, show_media
from tintype.api.views.people import AuthorView, show_author
from tintype.api.views.posts import GridPostView, show_grid_post
from tintype.api.views.stories import StoryView, show_story
from tintype.base.pages import Page
from tintype.direct import (
    DisappearsAfter,
    Folder,
    InboxEntry,
    Member,
    MemberState,
    Message,
    MessageKind,
    Sealed,
    Sent,
    SharedPost,
    Thread,
    ThreadId,
    ThreadKind,
    VoiceMessage,
)
from tintype.graph import VisibleAccount
from tintype.posts import PostMedia

LONGEST_CAPTION = 200
"""Of a post that a message shares, in characters."""


class QuoteView(msgspec.Struct, frozen=True):
    """The beginning of the message that another one replies to; without an author it is not to be seen any more."""

    message_id: str
    account_id: str | None
    text: str


class MessageReactionView(msgspec.Struct, frozen=True):
    """One person's reaction."""

    account_id: str
    emoji: str


class PostCardView(msgspec.Struct, frozen=True):
    """A post that a message shares."""

    post: GridPostView
    author: AuthorView
    caption: str


class SealedView(msgspec.Struct, frozen=True):
    """What the server has of an encrypted message."""

    ciphertext: str
    """A PrivateMessage in base64url."""
    epoch: int
    device_id: str
    """Which of its author's devices sent it."""
    has_attachment: bool


class VoiceView(msgspec.Struct, frozen=True):
    """A recording: AAC in MP4, which every browser plays."""

    media_id: str
    url: str
    """For those who are in the conversation."""
    duration_ms: int
    waveform: list[int]
    """64 peaks of equal parts, 0 to 255, relative to the loudest."""


class MessageView(msgspec.Struct, frozen=True):
    """A message. Without an author, whoever wrote it is gone, or a block lies between them and the viewer."""

    message_id: str
    thread_id: str
    number: int
    """The place in the thread, which grows by one with each message."""
    author: AuthorView | None
    is_own: bool
    kind: MessageKind
    text: str
    is_hidden: bool
    """A block lies between the viewer and the author: the text is not shown."""
    reply_to: QuoteView | None
    media: MediaView | None
    """The photo or video of a message of the kind `media`; its links are for those who are in the conversation."""
    voice: VoiceView | None
    """The recording of a message of the kind `voice`."""
    post: PostCardView | None
    """What a message of the kind `post` shares; null where the viewer may not see it, or it is gone."""
    story: StoryView | None
    """What a message of the kind `story` shares, or one of the kind `story_reply` answers; likewise."""
    sealed: SealedView | None
    """Of the kinds `encrypted` and `encrypted_change`: only devices in the conversation can read it."""
    reactions: list[MessageReactionView]
    created_at: datetime
    edited_at: datetime | None
    expires_at: datetime | None
    """When it disappears."""
    after_seen_s: int | None
    """It disappears so many seconds after all others have seen it, at `expires_at` at the latest; null after that."""


class MessagesView(msgspec.Struct, frozen=True):
    """A page of messages, newest first."""

    messages: list[MessageView]
    next_cursor: str | None
    has_more: bool


class SentView(msgspec.Struct, frozen=True):
    """A message that was sent, now or by an earlier request with the same local id."""

    thread_id: str
    message_id: str
    number: int
    created_at: datetime


class MemberView(msgspec.Struct, frozen=True):
    """Somebody in a thread."""

    person: AuthorView
    is_admin: bool
    is_invited: bool
    """Has not accepted yet."""
    seen_number: int
    """They have read up to this message."""
    seen_at: datetime | None


class GroupPhotoView(msgspec.Struct, frozen=True):
    """The photo of a group, for those who are in it."""

    media_id: str
    squares: dict[str, str]
    """Links by width."""
    placeholder: str | None


class ThreadView(msgspec.Struct, frozen=True):
    """A thread and its members."""

    thread_id: str
    kind: ThreadKind
    is_encrypted: bool
    """End to end: what is written is known to the devices in it alone."""
    name: str
    state: MemberState
    is_admin: bool
    disappear_s: int | None
    """New messages disappear after so many seconds."""
    disappears_after: DisappearsAfter
    """From when those seconds count: since a message was sent, or since everybody else has seen it."""
    last_number: int
    seen_number: int
    unread_count: int
    member_count: int
    photo: GroupPhotoView | None
    members: list[MemberView]
    """Those whom the viewer may see, the viewer included."""
    is_archived: bool
    muted_until: datetime | None
    last_counter: int | None
    """How far the device named in the request has come with its changes."""


class ThreadRefView(msgspec.Struct, frozen=True):
    """The thread that a request has opened."""

    thread_id: str


class InboxEntryView(msgspec.Struct, frozen=True):
    """A thread in the inbox."""

    thread_id: str
    kind: ThreadKind
    is_encrypted: bool
    """End to end: what is written is known to the devices in it alone."""
    name: str
    people: list[AuthorView]
    """Some of the others in it."""
    photo: GroupPhotoView | None
    member_count: int
    unread_count: int
    last_message: MessageView | None
    state: MemberState
    is_archived: bool
    muted_until: datetime | None


class InboxView(msgspec.Struct, frozen=True):
    """A page of a folder, the thread with the newest message first."""

    folder: Folder
    threads: list[InboxEntryView]
    next_cursor: str | None
    has_more: bool


class UnreadMessagesView(msgspec.Struct, frozen=True):
    """Threads with unread messages, and requests that wait."""

    threads: int
    requests: int


def show_sent(thread_id: ThreadId, sent: Sent, context: ViewContext) -> SentView:
    """What became of a message that was sent."""
    return SentView(
        str(thread_id), str(sent.message_id), sent.number, context.layout.id_time(sent.message_id)
    )


def show_message(message: Message, context: ViewContext) -> MessageView:
    """A message as the viewer sees it."""
    quoted = message.reply_to
    return MessageView(
        message_id=str(message.id),
        thread_id=str(message.thread_id),
        number=message.number,
        author=_show_author(message.author),
        is_own=message.account_id == context.viewer_id,
        kind=message.kind,
        text=message.text,
        is_hidden=message.is_hidden,
        reply_to=QuoteView(
            str(quoted.message_id), str(quoted.account_id) if quoted.account_id else None, quoted.text
        )
        if quoted is not None
        else None,
        media=show_media(message.media, context, audience="viewers") if message.media else None,
        voice=_show_voice(message.voice, context) if message.voice else None,
        post=_show_post(message.post, context) if message.post is not None else None,
        story=show_story(message.story, context) if message.story is not None else None,
        sealed=_show_sealed(message.sealed) if message.sealed is not None else None,
        reactions=[MessageReactionView(str(who), emoji) for who, emoji in message.reactions],
        created_at=context.layout.id_time(message.id),
        edited_at=message.edited_at,
        expires_at=message.expires_at,
        after_seen_s=message.after_seen_s,
    )


def show_messages(page: Page[Message], context: ViewContext) -> MessagesView:
    """A page of messages."""
    return MessagesView([show_message(each, context) for each in page.items], *next_page(page.next_before))


def show_thread(thread: Thread, context: ViewContext) -> ThreadView:
    """A thread as the viewer sees it."""
    return ThreadView(
        thread_id=str(thread.id),
        kind=thread.kind,
        is_encrypted=thread.is_encrypted,
        name=thread.name,
        state=thread.state,
        is_admin=thread.is_admin,
        disappear_s=thread.disappear_s,
        disappears_after=thread.disappears_after,
        last_number=thread.last_number,
        seen_number=thread.seen_number,
        unread_count=max(0, thread.last_number - thread.seen_number),
        member_count=thread.member_count,
        photo=_show_photo(thread.photo, context),
        members=[_show_member(each) for each in thread.members],
        is_archived=thread.is_archived,
        muted_until=thread.muted_until,
        last_counter=thread.last_counter,
    )


def show_inbox(folder: Folder, page: Page[InboxEntry], context: ViewContext) -> InboxView:
    """A page of a folder."""
    return InboxView(
        folder, [_show_entry(each, context) for each in page.items], *next_page(page.next_before)
    )


def _show_entry(entry: InboxEntry, context: ViewContext) -> InboxEntryView:
    return InboxEntryView(
        thread_id=str(entry.thread_id),
        kind=entry.kind,
        is_encrypted=entry.is_encrypted,
        name=entry.name,
        people=[show_author(each.account) for each in entry.people],
        photo=_show_photo(entry.photo, context),
        member_count=entry.member_count,
        unread_count=entry.unread_count,
        last_message=show_message(entry.last_message, context) if entry.last_message else None,
        state=entry.state,
        is_archived=entry.is_archived,
        muted_until=entry.muted_until,
    )


def _show_photo(photo: PostMedia | None, context: ViewContext) -> GroupPhotoView | None:
    if photo is None:
        return None
    squares = context.urls.square_urls(photo.folder, audience="viewers")
    return GroupPhotoView(str(photo.media_id), squares, photo.placeholder)


def _show_member(member: Member) -> MemberView:
    return MemberView(
        show_author(member.account.account),
        member.is_admin,
        member.is_invited,
        member.seen_number,
        member.seen_at,
    )


def _show_post(shared: SharedPost, context: ViewContext) -> PostCardView:
    author = shared.author.account
    return PostCardView(
        show_grid_post(shared.post, author, context),
        show_author(author),
        shared.post.caption[:LONGEST_CAPTION],
    )


def _show_sealed(sealed: Sealed) -> SealedView:
    return SealedView(
        encode_bytes(sealed.ciphertext),
        sealed.epoch,
        str(sealed.device_id),
        sealed.attachment_id is not None,
    )


def _show_voice(voice: VoiceMessage, context: ViewContext) -> VoiceView:
    url = context.urls.voice_url(voice.folder, audience="viewers")
    return VoiceView(str(voice.media_id), url, voice.duration_ms, list(voice.waveform))


def _show_author(author: VisibleAccount | None) -> AuthorView | None:
    return show_author(author.account) if author is not None else None
