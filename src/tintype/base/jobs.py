"""Declarations of background jobs: handlers of events, and schedules.

Rooms declare them and the worker process runs them. A declaration holds no connection, so that it can be listed and
tested without one.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, overload

from tintype.base.events import Event

E = TypeVar("E", bound=Event)
MAX_BATCH = 100
"""The most events that a handler of batches gets in one call."""
JOBS_AT_ONCE = 32
BATCHES_AT_ONCE = 2
"""Batches grow while others run, so few at once are the cheapest; two, so that a slow shard does not stop all."""


@dataclass(frozen=True)
class Handler:
    """Handles each event of one type at least once, until it succeeds or its attempts are used up."""

    name: str
    """Part of the names of durable NATS consumers: a renamed handler is a new one, which gets events from then on."""
    event: type[Event]
    run: Callable[[Any], Awaitable[None]]
    """Handles one event."""
    concurrency: int = JOBS_AT_ONCE
    run_many: Callable[[list[Any]], Awaitable[None]] | None = None
    """Handles some events in one call, where the handler can."""
    is_long: bool = False
    """Takes minutes: a worker holds no more of these jobs than it runs, so that others can have the rest."""


@dataclass(frozen=True)
class Schedule:
    """Calls `run` about every `every_s` seconds, in one worker at a time."""

    name: str
    every_s: float
    run: Callable[[], Awaitable[None]]


@overload
def on(
    event: type[E],
    run: Callable[[E], Awaitable[None]],
    *,
    name: str,
    concurrency: int = ...,
    many: Literal[False] = False,
    is_long: bool = ...,
) -> Handler: ...


@overload
def on(
    event: type[E],
    run: Callable[[list[E]], Awaitable[None]],
    *,
    name: str,
    concurrency: int = ...,
    many: Literal[True],
) -> Handler: ...


def on(
    event: type[E],
    run: Callable[[Any], Awaitable[None]],
    *,
    name: str,
    concurrency: int | None = None,
    many: bool = False,
    is_long: bool = False,
) -> Handler:
    """Declare a handler; the types of event and function are checked against each other.

    With `many` the function gets a list of what waits at the moment, at most `MAX_BATCH` events in no particular order,
    perhaps the same one twice. It need not sort out those that cannot be handled: when a call raises, its events are
    handled again in halves, down to the ones that fail by themselves, and only those are retried.
    `concurrency` is how many calls run at once in a worker; those of a job that `is_long` take minutes.
    """
    if not many:
        return Handler(name, event, run, concurrency or JOBS_AT_ONCE, is_long=is_long)

    async def run_one(one: E) -> None:
        await run([one])

    return Handler(name, event, run_one, concurrency or BATCHES_AT_ONCE, run_many=run)
