"""News that rooms announce: immutable facts in the past tense.

A fact is written to the outbox in the transaction that makes it true, and reaches its handlers at least
once, in no promised order. So a handler must be safe to repeat.
"""

import re
from typing import Any, ClassVar, Self

import msgspec


class Event(msgspec.Struct, frozen=True, kw_only=False):
    """A fact. The class name, in snake case, is its name on the wire: `PostLiked` → `post_liked`."""

    name: ClassVar[str] = "event"
    known: ClassVar[dict[str, type["Event"]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.name = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        Event.known[cls.name] = cls

    def encode(self) -> bytes:
        """The fact as JSON."""
        return msgspec.json.encode(self)

    @classmethod
    def decode(cls, payload: bytes) -> Self:
        """The fact back from JSON; fields unknown to this release are ignored."""
        return msgspec.json.decode(payload, type=cls)
