"""Realtime: the live connection of people's devices, MQTT 3.1.1 spoken by NATS.

Who connects is decided by the auth callout, which NATS asks: a device sees the topics below `/u/{its account}` and
publishes on `/u/{its account}/commands`, nothing else. What arrives there is a hint or an update of the sync room: the
truth is in PostgreSQL, and whoever misses something reads it over HTTP.
"""

from tintype.realtime.activity import Activity
from tintype.realtime.commands import Command, CommandHandler
from tintype.realtime.connect_tokens import ConnectToken
from tintype.realtime.direct_commands import DirectCommands
from tintype.realtime.errors import CalloutMissing, RealtimeOff
from tintype.realtime.protocol import asyncapi_document
from tintype.realtime.service import Realtime, RealtimeDependencies
from tintype.realtime.store import QUERIES
from tintype.realtime.typing_signals import ListMembers

__all__ = [
    "QUERIES",
    "Activity",
    "CalloutMissing",
    "Command",
    "CommandHandler",
    "ConnectToken",
    "DirectCommands",
    "ListMembers",
    "Realtime",
    "RealtimeDependencies",
    "RealtimeOff",
    "asyncapi_document",
]
