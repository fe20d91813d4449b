"""Declarations of background jobs: handlers of events, and schedules.

Rooms declare them and the worker process runs them. A declaration holds no connection, so that it can be listed and
tested without one.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from tintype.base.events import Event

E = TypeVar("E", bound=Event)


@dataclass(frozen=True)
class Handler:
    """Calls `run` with each event of one type, at least once, until it succeeds or its attempts are used up."""

    name: str
    """The name of the durable NATS consumer: a renamed handler is a new consumer, which gets events from then on."""
    event: type[Event]
    run: Callable[[Any], Awaitable[None]]
    concurrency: int = 32


@dataclass(frozen=True)
class Schedule:
    """Calls `run` about every `every_s` seconds, in one worker at a time."""

    name: str
    every_s: float
    run: Callable[[], Awaitable[None]]


def on(event: type[E], run: Callable[[E], Awaitable[None]], *, name: str, concurrency: int = 32) -> Handler:
    """Declare a handler; the types of event and function are checked against each other."""
    return Handler(name, event, run, concurrency)
