"""What is on the topics, as an AsyncAPI 3 document: made from the very types that are sent.

`./tintype docs` writes it to docs/asyncapi.json. Whoever adds a kind of update or a command adds it here; a test holds
the tables against what is registered, and the schemas against real messages.
"""

from datetime import datetime
from typing import Any

import msgspec

from tintype.media import ConversionProgress
from tintype.realtime.commands import Reply, SentCommand
from tintype.realtime.direct_commands import (
    EditPayload,
    MessagePayload,
    ReactionPayload,
    SeenPayload,
    SendEncryptedPayload,
    SendPayload,
)
from tintype.realtime.feed_hints import FeedHint
from tintype.realtime.post_signals import PostSignal, WatchPostsPayload
from tintype.realtime.presence_events import PresenceSignal, WatchPayload
from tintype.realtime.typing_signals import TypingPayload, TypingSignal


class Update(msgspec.Struct, frozen=True):
    """An update with its number; `kind` says what its payload is."""

    seq: int
    kind: str
    at: datetime
    payload: dict[str, Any]


class UnreadPayload(msgspec.Struct, frozen=True):
    """The list of notifications has changed: so many are unread now."""

    unread_count: int


class NothingPayload(msgspec.Struct, frozen=True):
    """Nothing: of a redacted update only its number is left, and a ping carries nothing."""


class MessageUpdate(msgspec.Struct, frozen=True):
    """A new direct message. `text` is null where it is too long for an update: fetch the message."""

    thread_id: str
    message_id: str
    number: int
    account_id: str
    kind: str
    text: str | None
    reply_to_id: str | None
    ciphertext: str | None = None
    """Of an encrypted message, a PrivateMessage in base64url; null where it is too long for an update."""
    epoch: int | None = None
    device_id: str | None = None
    """Which of its author's devices sent it."""
    has_attachment: bool = False


class MessageChangeUpdate(msgspec.Struct, frozen=True):
    """A direct message was edited or unsent, or somebody reacted to it: fetch the message."""

    thread_id: str
    message_id: str


class ThreadUpdate(msgspec.Struct, frozen=True):
    """Members, name, requests or blocks of a conversation changed: fetch it; it is gone for whoever left it."""

    thread_id: str


class SeenUpdate(msgspec.Struct, frozen=True):
    """Somebody has read a conversation up to the message of this number."""

    thread_id: str
    account_id: str
    number: int


UPDATES: dict[str, type[msgspec.Struct]] = {
    "notification": UnreadPayload,
    "direct.message": MessageUpdate,
    "direct.message_changed": MessageChangeUpdate,
    "direct.thread": ThreadUpdate,
    "direct.seen": SeenUpdate,
    "redacted": NothingPayload,
}
"""The payload of each kind of update."""
COMMANDS: dict[str, type[msgspec.Struct]] = {
    "ping": NothingPayload,
    "presence.watch": WatchPayload,
    "watch": WatchPostsPayload,
    "typing": TypingPayload,
    "direct.send": SendPayload,
    "direct.edit": EditPayload,
    "direct.unsend": MessagePayload,
    "direct.react": ReactionPayload,
    "direct.send_encrypted": SendEncryptedPayload,
    "direct.seen": SeenPayload,
}
"""The payload of each kind of command."""
CHANNELS: dict[str, tuple[type[msgspec.Struct], str]] = {
    "updates": (
        Update,
        "Updates of the account's log. A gap in `seq` is filled by GET /api/v1/sync?since=seq.",
    ),
    "replies": (Reply, "Answers to commands of the account's devices, sent after the effect is stored."),
    "typing": (TypingSignal, "Who types in a thread; stored nowhere."),
    "presence": (PresenceSignal, "Changes of those who are watched by `presence.watch`; stored nowhere."),
    "feed": (FeedHint, "A new post in the feed; stored nowhere."),
    "posts": (PostSignal, "Changes of the posts that a device watches by `watch`; stored nowhere."),
    "media": (ConversionProgress, "How far the conversion of a video is; stored nowhere."),
    "commands": (SentCommand, "What devices ask for, at QoS 1. Repeating a command has its effect once."),
}
SENT_BY_DEVICES = frozenset({"commands"})


def asyncapi_document(version: str) -> dict[str, Any]:
    """The document."""
    types = [*(kind for kind, _ in CHANNELS.values()), *UPDATES.values(), *COMMANDS.values()]
    _, schemas = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    for channel, payloads in (("Update", UPDATES), ("SentCommand", COMMANDS)):
        schemas[channel]["oneOf"] = [
            {"properties": {"kind": {"const": kind}, "payload": _reference(payload)}}
            for kind, payload in payloads.items()
        ]
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Tintype, live",
            "version": version,
            "description": "MQTT 3.1.1. POST /api/v1/realtime/token gives the credentials. Ids are strings.",
        },
        "servers": {
            "site": {
                "host": "photos.example.org",
                "pathname": "/mqtt",
                "protocol": "wss",
                "description": "MQTT over WebSocket, with the subprotocol `mqtt`.",
                "bindings": {"mqtt": {"clientId": "{client_id_prefix}{device}", "cleanSession": True}},
            }
        },
        "channels": {name: _channel(name) for name in CHANNELS},
        "operations": {_verb(name): _operation(name) for name in CHANNELS},
        "components": {
            "messages": {
                kind.__name__: {
                    "name": kind.__name__,
                    "contentType": "application/json",
                    "payload": _reference(kind),
                }
                for kind, _ in CHANNELS.values()
            },
            "schemas": schemas,
        },
    }


def _channel(name: str) -> dict[str, Any]:
    kind, about = CHANNELS[name]
    return {
        "address": f"/u/{{accountId}}/{name}",
        "description": about,
        "parameters": {
            "accountId": {"description": "The id of the account that the device is signed in to."}
        },
        "messages": {kind.__name__: {"$ref": f"#/components/messages/{kind.__name__}"}},
    }


def _operation(name: str) -> dict[str, Any]:
    return {
        "action": "send" if name in SENT_BY_DEVICES else "receive",
        "channel": {"$ref": f"#/channels/{name}"},
        "bindings": {"mqtt": {"qos": 1 if name in SENT_BY_DEVICES else 0, "retain": False}},
    }


def _verb(name: str) -> str:
    return f"{'send' if name in SENT_BY_DEVICES else 'receive'}{name.capitalize()}"


def _reference(kind: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{kind.__name__}"}
