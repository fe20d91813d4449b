"""Deliveries: messages of JetStream that this process holds, until every handler has finished with them."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from nats.aio.msg import Msg

from tintype.base.events import Event
from tintype.base.jobs import Handler

ATTEMPTS, NOT_BEFORE = "Tintype-Attempts", "Tintype-Not-Before"
"""Headers of a retry: how many attempts its handler has used up, and the time before which it is not tried again."""
_OLD_REPLY_TOKENS = 9


class Source(Enum):
    """Which kind of messages a durable consumer delivers."""

    EVENTS = "events"
    """Messages for all handlers of an event."""
    RETRIES = "retries"
    """Messages for one handler, which has failed on them or died with them; also replayed dead letters."""
    ALONE = "alone"
    """Messages that may have killed a worker: the next one is delivered once the last one has been answered."""


class Failure(NamedTuple):
    """Why a handler could not finish."""

    handler: Handler
    error: str


class Delivery:
    """One message, decoded once, and how many of its handlers have not finished yet."""

    __slots__ = ("attempt", "event", "failures", "is_single", "left", "message", "request_id", "unanswered")

    def __init__(self, message: Msg, source: Source) -> None:
        self.message = message
        self.event: Event | None = None
        self.left = 0
        self.failures: list[Failure] = []
        self.request_id = headers_of(message).get("Request-Id") or None
        self.is_single = source is not Source.EVENTS
        """Handled by itself, not in a batch: it has failed before."""
        self.unanswered, self.attempt = _count_attempts(message, source)

    @property
    def due_at(self) -> float | None:
        """When a retry may be tried again, at its first delivery, which only serves to learn that."""
        not_before = headers_of(self.message).get(NOT_BEFORE)
        return float(not_before) if not_before and self.unanswered < 0 else None

    def expect(self, event: Event, handlers: Sequence[Handler]) -> None:
        """These handlers will handle it."""
        self.event, self.left = event, len(handlers)


def _count_attempts(message: Msg, source: Source) -> tuple[int, int]:
    """How many deliveries were never answered, and the number of the attempt that this one would be, from 1 on.

    The worker died with those, or lost NATS before it could answer. The delivery that only delays a retry is none.
    """
    headers, unanswered = headers_of(message), delivery_count(message) - 1
    if source is Source.RETRIES and NOT_BEFORE in headers:
        unanswered -= 1
    if source is Source.EVENTS:
        unanswered = min(1, unanswered)  # from the second on it was not run here, but passed on
    return unanswered, int(headers.get(ATTEMPTS) or 0) + 1 + max(0, unanswered)


def headers_of(message: Msg) -> Mapping[str, str]:
    """The headers of a message, empty where it has none."""
    return message.headers or {}


def delivery_count(message: Msg) -> int:
    """How often JetStream has delivered a message, this time included."""
    return int(_reply_token(message, 4))


def stream_sequence(message: Msg) -> int:
    """The number of a message in its stream."""
    return int(_reply_token(message, 5))


def _reply_token(message: Msg, place: int) -> str:
    # `Msg.metadata` parses eleven fields and a date for each message; two of them are needed.
    tokens = message.reply.split(".")
    return tokens[place if len(tokens) == _OLD_REPLY_TOKENS else place + 2]
