"""The facade of the direct room."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from shardwright.routing import Transaction
from tintype.base.ids import LARGEST_ID, AccountId, MediaId
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.pages import Page
from tintype.base.personal_data import PersonalDataHolder
from tintype.direct.acquaintances import Acquaintances
from tintype.direct.after_seen import EndsAfterSeen
from tintype.direct.block_mirror import BlockMirror
from tintype.direct.change_message import MessageChanges
from tintype.direct.contact import Contact
from tintype.direct.delivery import MessageDelivery
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.encryption.attachments import Attachments
from tintype.direct.encryption.devices import Devices
from tintype.direct.encryption.models import DeviceId
from tintype.direct.encryption.service import Encryption
from tintype.direct.errors import ThreadNotFound
from tintype.direct.event_handlers import DirectEventHandlers
from tintype.direct.events import MessageChanged, MessageSent, ThreadChanged, ThreadSeen
from tintype.direct.group_photos import GroupPhotos
from tintype.direct.inbox import Inbox
from tintype.direct.inbox_feeder import InboxFeeder
from tintype.direct.members import Members
from tintype.direct.message_media import MessageMedia
from tintype.direct.models import (
    DirectSettings,
    DisappearsAfter,
    Draft,
    Folder,
    InboxEntry,
    Message,
    MessageId,
    MessagePush,
    Mutation,
    Preview,
    Sent,
    Thread,
    ThreadId,
    Unread,
)
from tintype.direct.moderate import DirectModeration, Evidence
from tintype.direct.personal_data import DirectPersonalData
from tintype.direct.pushes import MessagePushState
from tintype.direct.reader import ThreadReader
from tintype.direct.requests import Requests
from tintype.direct.retention import DirectRetention
from tintype.direct.search import MessageSearch
from tintype.direct.search_index import SearchIndex
from tintype.direct.seen import SeenMarkers
from tintype.direct.send import Sender
from tintype.direct.story_replies import StoryReplies
from tintype.direct.threads import Threads
from tintype.direct.updates import UpdateFanOut
from tintype.graph import BlockChanged
from tintype.stories import StoryReplied

REPAIR_EVERY_S = 86_400.0


class Direct:
    """Conversations of two people and of groups."""

    def __init__(self, deps: DirectDependencies) -> None:
        self._feeder = InboxFeeder(deps)
        attachments, devices = Attachments(deps), Devices(deps)
        updates = UpdateFanOut(deps, SearchIndex(deps))
        delivery = MessageDelivery(deps, self._feeder, updates)
        self._media = MessageMedia(deps, attachments)
        self._contact = Contact(deps)
        self._reader = ThreadReader(deps, self._media)
        self._threads = Threads(deps, self._contact, self._feeder, devices)
        self._members = Members(deps, self._contact, self._feeder)
        self._requests = Requests(deps, self._feeder)
        self._sender = Sender(deps, self._feeder, self._media, delivery)
        self._story_replies = StoryReplies(self._threads, self._sender)
        self._changes = MessageChanges(deps, self._media)
        self._ends = EndsAfterSeen(deps.shards)
        self._seen = SeenMarkers(deps, self._reader, self._feeder, self._ends)
        self._inbox = Inbox(deps, self._media)
        self._photos = GroupPhotos(deps, self._media, self._feeder)
        self._acquaintances = Acquaintances(deps)
        self._search = MessageSearch(deps, self._reader)
        self._pushes = MessagePushState(deps, self._reader, self._contact)
        self._moderation = DirectModeration(deps, self._reader, self._media)
        self._blocks = BlockMirror(deps, self._feeder)
        self._retention = DirectRetention(deps, self._media, self._ends)
        self._event_handlers = DirectEventHandlers(self._feeder, updates, delivery, self._media)
        self.encryption = Encryption(
            deps,
            attachments=attachments,
            devices=devices,
            contact=self._contact,
            reader=self._reader,
            sender=self._sender,
            feeder=self._feeder,
            delivery=delivery,
        )
        """End-to-end encrypted threads: devices, key packages, groups, ciphertexts, backups."""
        self.personal_data: PersonalDataHolder = DirectPersonalData(
            deps, self._contact, self._media, self.encryption.personal_data
        )

    # Threads.

    async def open_pair(
        self, by: AccountId, other: AccountId, *, device_id: DeviceId | None = None
    ) -> ThreadId:
        """The thread of two people, begun if there is none: exactly one, whoever asks and however often.

        With a device of one's own it is the encrypted one, of which they have one as well.
        """
        return await self._threads.open_pair(by, other, device_id=device_id)

    async def create_group(
        self,
        by: AccountId,
        others: Sequence[AccountId],
        *,
        name: str = "",
        local_id: str,
        device_id: DeviceId | None = None,
    ) -> ThreadId:
        """Begin a group, once however often a device sends the same local id; with a device, an encrypted one."""
        return await self._threads.create_group(by, others, name=name, local_id=local_id, device_id=device_id)

    async def get_thread(
        self, thread_id: ThreadId, reader: AccountId, *, device_id: str | None = None
    ) -> Thread:
        """A thread with its members; with a device's id, how far that device has come with its changes."""
        return await self._reader.get(thread_id, reader, device_id=device_id)

    async def change_thread(
        self,
        thread_id: ThreadId,
        by: AccountId,
        *,
        name: str | None = None,
        disappear_s: int | None = None,
        disappears_after: DisappearsAfter | None = None,
    ) -> None:
        """Name a group, as an admin; let new messages disappear after a time (0: stay), as any member."""
        after_seen = None if disappears_after is None else disappears_after == "seen"
        await self._members.change(thread_id, by, name=name, disappear_s=disappear_s, after_seen=after_seen)

    async def set_photo(self, thread_id: ThreadId, by: AccountId, media_id: MediaId) -> None:
        """Show an uploaded photo as the group's, as an admin; the one before is deleted."""
        await self._photos.set(thread_id, by, media_id)

    async def remove_photo(self, thread_id: ThreadId, by: AccountId) -> None:
        """Show no photo of a group, as an admin."""
        await self._photos.remove(thread_id, by)

    async def add_members(self, thread_id: ThreadId, by: AccountId, account_ids: Sequence[AccountId]) -> None:
        """Add people to a group, as an admin; they read from the next message on."""
        await self._members.add(thread_id, by, account_ids)

    async def remove_member(self, thread_id: ThreadId, by: AccountId, account_id: AccountId) -> None:
        """Remove somebody from a group as an admin, or leave it oneself."""
        await self._members.remove(thread_id, by, account_id)

    async def set_admin(
        self, thread_id: ThreadId, by: AccountId, account_id: AccountId, *, is_admin: bool
    ) -> None:
        """Make a member an admin, or no longer one; a group always has one."""
        await self._members.set_admin(thread_id, by, account_id, is_admin=is_admin)

    async def accept(self, thread_id: ThreadId, by: AccountId) -> None:
        """Move a request to the inbox."""
        await self._requests.accept(thread_id, by)

    async def decline(self, thread_id: ThreadId, by: AccountId) -> None:
        """Remove a request from the list; who sent it is not told."""
        await self._requests.decline(thread_id, by)

    # Messages.

    async def send(
        self,
        thread_id: ThreadId,
        by: AccountId,
        draft: Draft,
        mutation: Mutation,
    ) -> Sent:
        """Send a message, once however often the device sends it, and in the device's order."""
        return await self._sender.send(thread_id, by, draft, mutation)

    async def edit(
        self, thread_id: ThreadId, message_id: MessageId, by: AccountId, text: str, mutation: Mutation
    ) -> None:
        """Change the text of one's own message within 15 minutes."""
        await self._changes.edit(thread_id, message_id, by, text, mutation)

    async def unsend(
        self, thread_id: ThreadId, message_id: MessageId, by: AccountId, mutation: Mutation
    ) -> None:
        """Take one's own message back: nothing is left of it but its position."""
        await self._changes.unsend(thread_id, message_id, by, mutation)

    async def react(
        self,
        thread_id: ThreadId,
        message_id: MessageId,
        by: AccountId,
        emoji: str | None,
        mutation: Mutation,
    ) -> None:
        """Set one's reaction to a message, replacing an earlier one; None takes it back."""
        await self._changes.react(thread_id, message_id, by, emoji, mutation)

    async def page_messages(
        self, thread_id: ThreadId, reader: AccountId, *, before: int = LARGEST_ID, limit: int = 20
    ) -> Page[Message]:
        """Messages since the reader joined, newest first."""
        return await self._reader.page(thread_id, reader, before=before, limit=limit)

    async def get_message(self, thread_id: ThreadId, message_id: MessageId, reader: AccountId) -> Message:
        """One message that the reader may read."""
        return await self._reader.get_message(thread_id, message_id, reader)

    async def mark_seen(self, thread_id: ThreadId, by: AccountId, number: int) -> None:
        """Somebody has seen the messages of a thread up to this number; a smaller one than before changes nothing."""
        await self._seen.mark(thread_id, by, number)

    # The inbox.

    async def page_inbox(
        self, account_id: AccountId, folder: Folder, *, before: int = LARGEST_ID, limit: int = 20
    ) -> Page[InboxEntry]:
        """A folder of somebody's inbox, the thread with the newest message first."""
        return await self._inbox.page(account_id, folder, before=before, limit=limit)

    async def count_unread(self, account_id: AccountId) -> Unread:
        """How many threads have something unread, and how many requests wait."""
        return await self._inbox.count_unread(account_id)

    async def archive(self, thread_id: ThreadId, by: AccountId, *, is_archived: bool = True) -> None:
        """Move a thread to one's archive, or back."""
        await self._inbox.archive(thread_id, by, is_archived=is_archived)

    async def mute(self, thread_id: ThreadId, by: AccountId, until: datetime | None) -> None:
        """Get no notifications of a thread until then; None ends it."""
        await self._inbox.mute(thread_id, by, until)

    async def search(
        self,
        account_id: AccountId,
        text: str,
        *,
        thread_id: ThreadId | None = None,
        before: int = LARGEST_ID,
        limit: int = 20,
    ) -> Page[Message]:
        """One's messages that have all these words, the newest first: of one thread, or of all one is in."""
        return await self._search.page(account_id, text, thread_id=thread_id, before=before, limit=limit)

    async def get_settings(self, account_id: AccountId) -> DirectSettings:
        """Who may write to somebody at all, and what notifications show."""
        return await self._contact.get_settings(account_id)

    async def set_settings(self, account_id: AccountId, settings: DirectSettings) -> None:
        """Replace somebody's settings; conversations that were accepted go on."""
        await self._contact.set_settings(account_id, settings)

    # For other rooms.

    async def thread_ids_of(self, account_id: AccountId) -> list[ThreadId]:
        """Every thread that somebody is in: whose typing they may hear of."""
        return await self._inbox.list_thread_ids(account_id)

    async def may_type(self, thread_id: ThreadId, account_id: AccountId) -> bool:
        """Whether others in a thread may learn that somebody is typing: a member who has accepted it."""
        try:
            row = await self._reader.get_row(thread_id, account_id)
        except ThreadNotFound:
            return False
        return row["state"] == "active"

    async def inspect_message(self, message_id: MessageId, viewer: AccountId) -> Evidence:
        """For a report: a message that the viewer may read, and who wrote it."""
        return await self._moderation.inspect_message(message_id, viewer)

    async def inspect_thread(self, thread_id: ThreadId, viewer: AccountId) -> Evidence:
        """For a report: what the other of a pair, or an admin of a group, wrote last in a thread of the viewer's."""
        return await self._moderation.inspect_thread(thread_id, viewer)

    async def hold_evidence(self, media_ids: Sequence[MediaId], case_key: str) -> None:
        """Keep the media of reported messages for the moderators of a case, though their messages may go."""
        await self._moderation.hold(media_ids, case_key)

    async def release_evidence(self, owner_id: AccountId, case_key: str) -> None:
        """The case is closed: media that were kept for it alone are deleted."""
        await self._moderation.release(owner_id, case_key)

    async def list_held_evidence(self) -> list[tuple[AccountId, str]]:
        """For which cases media are kept, and whose: some of them."""
        return await self._moderation.list_held()

    async def remove_message(self, message_id: MessageId) -> None:
        """A moderator takes a message back for everybody; the caller has checked the moderator's rights."""
        await self._moderation.remove(message_id)

    async def find_acquaintances(self, account_id: AccountId, others: Iterable[AccountId]) -> set[AccountId]:
        """Those of the others with whom somebody has a thread that both have accepted and one has written in."""
        return await self._acquaintances.find(account_id, others)

    async def list_typing_members(self, account_id: AccountId, thread_id: int) -> list[AccountId]:
        """Who may see that somebody types in a thread: the others who are in it, once that person has accepted it.

        `ThreadNotFound` where the thread is not theirs.
        """
        return await self._reader.list_typing_members(ThreadId(thread_id), account_id)

    async def list_recipients(self, events: Sequence[MessageSent]) -> list[MessagePush]:
        """Whose browsers may be told of new messages: the others in their threads, who have accepted them."""
        return await self._pushes.list_recipients(events)

    async def claim_pushes(self, tx: Transaction, pushes: Sequence[MessagePush]) -> list[MessagePush]:
        """Those that are to be pushed, each once; in a transaction on the shard of the recipients."""
        return await self._pushes.claim(tx, pushes)

    async def find_pushed(self, push: MessagePush) -> tuple[Message, Preview] | None:
        """A message when its push is sent, and what the recipient wants shown; None where there is nothing to push."""
        return await self._pushes.find(push)

    async def on_block_changed(self, change: BlockChanged) -> None:
        """Listener of the graph: a block reaches the thread of the two before whoever blocks gets their answer."""
        await self._blocks.apply_at_once(change)

    async def repair_inboxes(self) -> None:
        """Bring every inbox up to date with its threads, whatever events were lost."""
        await self._feeder.repair()

    async def sweep(self) -> None:
        """Delete messages whose time is over, and media whose message was never sent."""
        await self._retention.sweep()
        await self._media.sweep()
        await self.encryption.sweep()

    def handlers(self) -> list[Handler]:
        """Event handlers for the worker."""
        handle = self._event_handlers
        return [
            on(MessageSent, handle.on_sent, name="direct-sent", many=True),
            on(MessageChanged, handle.on_changed, name="direct-changed", many=True),
            on(ThreadChanged, handle.on_thread_changed, name="direct-thread", many=True),
            on(ThreadSeen, handle.on_seen, name="direct-seen", many=True),
            on(BlockChanged, self._blocks.apply, name="direct-blocks"),
            on(StoryReplied, self._story_replies.on_replied, name="direct-story-replies"),
            *self.encryption.handlers(),
        ]

    def schedules(self) -> list[Schedule]:
        """Periodic work for the worker."""
        return [
            Schedule("direct-inboxes", REPAIR_EVERY_S, self._feeder.repair),
            *self._retention.schedules(),
            *self.encryption.schedules(),
        ]
