"""The facade of encrypted threads, a part of `Direct`."""

from collections.abc import AsyncIterator, Sequence

from tintype.accounts import SessionsEnded
from tintype.base.ids import AccountId
from tintype.base.jobs import Handler, Schedule, on
from tintype.direct.contact import Contact
from tintype.direct.delivery import MessageDelivery
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.encryption.attachments import Attachments
from tintype.direct.encryption.backups import Backups
from tintype.direct.encryption.commits import Commits
from tintype.direct.encryption.departure import Departure
from tintype.direct.encryption.devices import Devices
from tintype.direct.encryption.errors import AttachmentNotFound
from tintype.direct.encryption.events import EncryptionDevicesChanged
from tintype.direct.encryption.groups import Groups
from tintype.direct.encryption.key_packages import KeyPackages
from tintype.direct.encryption.models import (
    AttachmentId,
    ClaimedKeyPackage,
    Committed,
    Device,
    DeviceId,
    GroupState,
    MemberDevice,
    NewCommit,
    SealedDraft,
    StoredCommit,
)
from tintype.direct.encryption.personal_data import EncryptionPersonalData
from tintype.direct.encryption.retention import EncryptionRetention
from tintype.direct.encryption.send import EncryptedSender
from tintype.direct.inbox_feeder import InboxFeeder
from tintype.direct.models import MessageId, Mutation, Sent, ThreadId
from tintype.direct.reader import ThreadReader
from tintype.direct.send import Sender
from tintype.media import ObjectStream


class Encryption:
    """Devices, key packages, groups and ciphertexts of end-to-end encrypted threads."""

    def __init__(
        self,
        deps: DirectDependencies,
        *,
        attachments: Attachments,
        devices: Devices,
        contact: Contact,
        reader: ThreadReader,
        sender: Sender,
        feeder: InboxFeeder,
        delivery: MessageDelivery,
    ) -> None:
        self._devices, self._attachments, self._reader = devices, attachments, reader
        self._packages = KeyPackages(deps, devices, contact, reader)
        self._groups = Groups(deps, devices, reader)
        self._commits = Commits(deps, devices, contact, feeder)
        self._departure = Departure(deps, feeder)
        self._sender = EncryptedSender(deps, sender, feeder, attachments, delivery)
        self._retention = EncryptionRetention(deps, devices, self._packages, attachments)
        self.backups = Backups(deps)
        """What devices have read, for a new device; only a passphrase opens it."""
        self.personal_data = EncryptionPersonalData(deps, devices, attachments, self.backups)

    # Devices and their key packages.

    async def register_device(
        self, account_id: AccountId, session_id: int, *, name: str, signature_key: bytes
    ) -> DeviceId:
        """A new device of somebody, until its session ends."""
        return await self._devices.register(account_id, session_id, name=name, signature_key=signature_key)

    async def list_devices(self, account_id: AccountId) -> list[Device]:
        """Somebody's own devices."""
        return await self._devices.list_own(account_id)

    async def remove_device(self, account_id: AccountId, device_id: DeviceId) -> None:
        """Remove one of somebody's own devices; the next commit in each thread removes its leaf."""
        await self._departure.apply_at_once(await self._devices.remove(account_id, device_id))

    async def upload_key_packages(
        self,
        account_id: AccountId,
        device_id: DeviceId,
        contents: Sequence[bytes],
        *,
        last_resort: bytes | None = None,
    ) -> int:
        """Store key packages of a device; returns how many are waiting now."""
        return await self._packages.upload(account_id, device_id, contents, last_resort=last_resort)

    async def claim_key_packages(
        self,
        by: AccountId,
        account_ids: Sequence[AccountId],
        *,
        device_ids: Sequence[DeviceId] | None = None,
        thread_id: ThreadId | None = None,
    ) -> list[ClaimedKeyPackage]:
        """Take one key package of each device of people to whom one may write, or with whom one is in a thread."""
        return await self._packages.claim(by, account_ids, device_ids=device_ids, thread_id=thread_id)

    # Groups.

    async def get_group(self, thread_id: ThreadId, reader: AccountId) -> GroupState:
        """The group of a thread: its tree, devices that are missing, what the next commit takes up."""
        return await self._groups.get(thread_id, reader)

    async def list_member_devices(self, thread_id: ThreadId, reader: AccountId) -> list[MemberDevice]:
        """The devices of everybody in a thread."""
        return await self._groups.list_devices(thread_id, reader)

    async def begin_group_anew(
        self, thread_id: ThreadId, by: AccountId, device_id: DeviceId, *, group_number: int
    ) -> int:
        """Replace a group that nobody has committed to, or whose devices are all gone; returns its number."""
        return await self._groups.begin_anew(thread_id, by, device_id, group_number=group_number)

    async def commit(self, thread_id: ThreadId, by: AccountId, given: NewCommit) -> Committed:
        """Make this the commit of its epoch; refused where another came first."""
        return await self._commits.commit(thread_id, by, given)

    async def page_commits(
        self, thread_id: ThreadId, reader: AccountId, device_id: DeviceId, *, since: int, limit: int
    ) -> list[StoredCommit]:
        """Commits since an epoch, in their order."""
        return await self._groups.page_commits(thread_id, reader, device_id, since=since, limit=limit)

    async def get_welcome(
        self, thread_id: ThreadId, reader: AccountId, device_id: DeviceId
    ) -> tuple[bytes, int]:
        """The welcome by which a device joins the group, and the epoch it joins in."""
        return await self._groups.get_welcome(thread_id, reader, device_id)

    async def leave(
        self,
        thread_id: ThreadId,
        by: AccountId,
        device_id: DeviceId,
        *,
        group_number: int,
        epoch: int,
        proposals: Sequence[bytes],
    ) -> None:
        """Leave an encrypted group, and propose the removal of one's own leaves."""
        await self._departure.leave(
            thread_id, by, device_id, group_number=group_number, epoch=epoch, proposals=proposals
        )

    # Messages.

    async def send(self, thread_id: ThreadId, by: AccountId, draft: SealedDraft, mutation: Mutation) -> Sent:
        """Send a ciphertext, once however often the device sends it, and in the device's order."""
        return await self._sender.send(thread_id, by, draft, mutation)

    async def upload_attachment(self, account_id: AccountId, chunks: AsyncIterator[bytes]) -> AttachmentId:
        """Store a file that a device has encrypted, for a message that is sent within a day."""
        return await self._attachments.upload(account_id, chunks)

    async def open_attachment(
        self, thread_id: ThreadId, message_id: MessageId, reader: AccountId
    ) -> ObjectStream:
        """The encrypted file of a message that the reader may read."""
        message = await self._reader.get_message(thread_id, message_id, reader)
        if message.sealed is None or message.sealed.attachment_id is None:
            raise AttachmentNotFound
        return await self._attachments.open(message.sealed.attachment_id)

    # For the worker.

    async def sweep(self) -> None:
        """Delete what nobody needs any more."""
        await self._retention.sweep()
        await self._attachments.sweep()

    def handlers(self) -> list[Handler]:
        """Event handlers for the worker."""
        return [
            on(EncryptionDevicesChanged, self._departure.apply, name="direct-devices"),
            on(SessionsEnded, self._devices.on_sessions_ended, name="direct-sessions"),
        ]

    def schedules(self) -> list[Schedule]:
        """Periodic work for the worker."""
        return self._retention.schedules()
