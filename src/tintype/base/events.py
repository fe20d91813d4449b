"""Events: immutable facts in the past tense that rooms publish to each other.

An event is written to the outbox in the transaction that makes it true, and reaches its handlers at least once, in no
particular order. So a handler must be idempotent.
"""

import re
from typing import Any, ClassVar, Self

import msgspec


class Event(msgspec.Struct, frozen=True, kw_only=False):
    """An event. The class name in snake case is its name on the wire: `PostLiked` → `post_liked`."""

    name: ClassVar[str] = "event"
    known: ClassVar[dict[str, type["Event"]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.name = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        Event.known[cls.name] = cls

    def encode(self) -> bytes:
        """The event as JSON."""
        return msgspec.json.encode(self)

    @classmethod
    def decode(cls, payload: bytes) -> Self:
        """The event from JSON; fields unknown to this release are ignored."""
        return msgspec.json.decode(payload, type=cls)
