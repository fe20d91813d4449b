"""Typing signals: who is typing in a thread, sent to its other members and stored nowhere.

Which threads there are is the direct room's knowledge, a room that does not know this one: `wiring.py` hands in the
function that lists a thread's members for one of them.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec
from nats.aio.client import Client
from nats.errors import Error as NatsError

from tintype.base.ids import AccountId, IdText
from tintype.base.nats import NatsNames
from tintype.realtime.commands import Command

ListMembers = Callable[[AccountId, int], Awaitable[Sequence[AccountId]]]
"""The others who may see that somebody types in a thread; raises what HTTP would, where the thread is not theirs."""


class TypingPayload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The thread that somebody types in, or has stopped typing in."""

    thread_id: IdText
    is_typing: bool = True


class TypingSignal(msgspec.Struct, frozen=True):
    """Somebody types in a thread; shown for some seconds unless it is repeated."""

    thread_id: str
    account_id: str
    is_typing: bool


class TypingSignals:
    """Fans typing signals out to the topics of a thread's members, so that no permission has to change with threads."""

    def __init__(self, nats: Client, list_members: ListMembers) -> None:
        self._nats, self._list_members = nats, list_members

    async def send(self, command: Command) -> dict[str, Any]:
        """Carry out the command `typing`."""
        payload = msgspec.convert(command.payload, TypingPayload)
        signal = TypingSignal(payload.thread_id, str(command.account_id), payload.is_typing)
        body = msgspec.json.encode(signal)
        for member in await self._list_members(command.account_id, int(payload.thread_id)):
            if member != command.account_id:
                try:
                    await self._nats.publish(NatsNames.user(member, "typing"), body)
                except NatsError:
                    break  # a signal that is late is worth nothing
        return {}
