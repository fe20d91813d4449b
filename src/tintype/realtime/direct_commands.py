"""Direct messages as commands of devices: the same effect, once, as over HTTP.

A device's own id of a change is the id of its command, so that sending it again, by whichever way, is the same change.
"""

import base64
import binascii
from typing import Any

import msgspec

from tintype.base.ids import LARGEST_ID, IdText, MediaId, PostId
from tintype.direct import AttachmentId, Direct, Draft, MessageId, Mutation, SealedDraft, ThreadId
from tintype.realtime.commands import Command, CommandRegistry
from tintype.realtime.errors import CommandInvalid
from tintype.stories import StoryId

DIRECT_WRITE = "direct:write"
"""The scope that an API token needs, as over HTTP."""


class ChangePayload(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where a device makes a change, and its place in the device's order."""

    thread_id: IdText
    device_id: str
    counter: int


class SendPayload(ChangePayload, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A message to send."""

    text: str = ""
    reply_to: IdText | None = None
    media_id: IdText | None = None
    post_id: IdText | None = None
    story_id: IdText | None = None


class SendEncryptedPayload(ChangePayload, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An encrypted message to send; the device is the registered one."""

    group_number: int
    epoch: int
    ciphertext: str
    """A PrivateMessage in base64url."""
    attachment_id: IdText | None = None
    is_change: bool = False


class MessagePayload(ChangePayload, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A message to unsend."""

    message_id: IdText


class EditPayload(MessagePayload, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Another text for a message."""

    text: str


class ReactionPayload(MessagePayload, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A reaction to a message; None takes it back."""

    emoji: str | None


class SeenPayload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far somebody has read a thread."""

    thread_id: IdText
    number: int


class DirectCommands:
    """Carries out commands about direct messages."""

    def __init__(self, direct: Direct) -> None:
        self._direct = direct

    def register(self, commands: CommandRegistry) -> None:
        """Make them known."""
        for kind, run in {
            "direct.send": self.send,
            "direct.send_encrypted": self.send_encrypted,
            "direct.edit": self.edit,
            "direct.unsend": self.unsend,
            "direct.react": self.react,
            "direct.seen": self.see,
        }.items():
            commands.register(kind, run, scope=DIRECT_WRITE)

    async def send(self, command: Command) -> dict[str, Any]:
        """Send a message."""
        payload = msgspec.convert(command.payload, SendPayload)
        draft = Draft(
            text=payload.text,
            reply_to=MessageId(_id(payload.reply_to)) if payload.reply_to else None,
            media_id=MediaId(_id(payload.media_id)) if payload.media_id else None,
            post_id=PostId(_id(payload.post_id)) if payload.post_id else None,
            story_id=StoryId(_id(payload.story_id)) if payload.story_id else None,
        )
        thread_id = ThreadId(_id(payload.thread_id))
        sent = await self._direct.send(thread_id, command.account_id, draft, _mutation(command, payload))
        return {"message_id": str(sent.message_id), "number": sent.number}

    async def send_encrypted(self, command: Command) -> dict[str, Any]:
        """Send an encrypted message."""
        payload = msgspec.convert(command.payload, SendEncryptedPayload)
        draft = SealedDraft(
            group_number=payload.group_number,
            epoch=payload.epoch,
            ciphertext=_bytes(payload.ciphertext),
            attachment_id=AttachmentId(_id(payload.attachment_id)) if payload.attachment_id else None,
            is_change=payload.is_change,
        )
        thread_id, mutation = ThreadId(_id(payload.thread_id)), _mutation(command, payload)
        sent = await self._direct.encryption.send(thread_id, command.account_id, draft, mutation)
        return {"message_id": str(sent.message_id), "number": sent.number}

    async def edit(self, command: Command) -> dict[str, Any]:
        """Change the text of a message."""
        payload = msgspec.convert(command.payload, EditPayload)
        await self._direct.edit(
            *_message(payload), command.account_id, payload.text, _mutation(command, payload)
        )
        return {}

    async def unsend(self, command: Command) -> dict[str, Any]:
        """Take a message back."""
        payload = msgspec.convert(command.payload, MessagePayload)
        await self._direct.unsend(*_message(payload), command.account_id, _mutation(command, payload))
        return {}

    async def react(self, command: Command) -> dict[str, Any]:
        """React to a message."""
        payload = msgspec.convert(command.payload, ReactionPayload)
        await self._direct.react(
            *_message(payload), command.account_id, payload.emoji, _mutation(command, payload)
        )
        return {}

    async def see(self, command: Command) -> dict[str, Any]:
        """Move a seen marker."""
        payload = msgspec.convert(command.payload, SeenPayload)
        await self._direct.mark_seen(ThreadId(_id(payload.thread_id)), command.account_id, payload.number)
        return {}


def _mutation(command: Command, payload: ChangePayload) -> Mutation:
    return Mutation(payload.device_id, command.id, payload.counter)


def _message(payload: MessagePayload) -> tuple[ThreadId, MessageId]:
    return ThreadId(_id(payload.thread_id)), MessageId(_id(payload.message_id))


def _id(text: str) -> int:
    if int(text) > LARGEST_ID:
        raise CommandInvalid
    return int(text)


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise CommandInvalid from error
