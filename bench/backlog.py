"""Work that a write has left behind: a bench waits until there is none, so that all of it is counted.

Tintype: events in the outbox, and in the stream until every handler has acknowledged them. Celery: messages in the
queue, and those delivered and not acknowledged yet; tasks acknowledge after they have run.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import cast

from nats.js import JetStreamContext
from redis.asyncio import Redis

from tintype.base.nats import NatsNames, connect_nats
from tintype.base.settings import Settings
from tintype.worker import connect_to_server

CountLeft = Callable[[], Awaitable[int]]
"""How many events or tasks are left, at least; zero when there are none."""
IS_WAITING = """
SELECT (p.target IS NOT NULL OR EXISTS (SELECT FROM common.read_outbox(1)))::int FROM common.outbox_position AS p
"""
"""Whether the relay has something to publish: an index probe, as these looks are part of what is measured."""
CELERY_QUEUE, CELERY_UNACKNOWLEDGED = "celery", "unacked"
POLL_S = 0.05
PATIENCE_S = 120.0


class WorkLeft(Exception):
    """A contender did not finish what its requests had left behind."""


async def nothing_left() -> int:
    """The backlog of a contender that does everything within the request."""
    return 0


async def wait_until_done(count_left: CountLeft, *, patience_s: float = PATIENCE_S) -> None:
    """Wait until two looks in a row find nothing: between two counts, an event can move from one to the other."""
    deadline = time.monotonic() + patience_s
    empty = 0
    while True:
        left = await count_left()
        empty = empty + 1 if left == 0 else 0
        if empty == 2:
            return
        if time.monotonic() > deadline:
            raise WorkLeft(f"{left} events or tasks were left after {patience_s:.0f} s: does the worker run?")
        await asyncio.sleep(POLL_S)


@asynccontextmanager
async def tintype_backlog(settings: Settings) -> AsyncGenerator[CountLeft]:
    """Count the events of an installation that are not handled yet."""
    async with AsyncExitStack() as stack:
        nats = await connect_nats(settings, name="bench")
        stack.push_async_callback(nats.close)
        outboxes = [await stack.enter_async_context(connect_to_server(dsn)) for dsn in settings.postgres]
        names, js = NatsNames(settings.namespace), nats.jetstream()

        async def count_left() -> int:
            waiting = sum([cast("int", await each.fetchval(IS_WAITING)) for each in outboxes])
            return waiting + await _count_unhandled(js, names)

        yield count_left


async def _count_unhandled(js: JetStreamContext, names: NatsNames) -> int:
    """Events in the stream: it keeps each of them until the last handler has acknowledged it."""
    return (await js.stream_info(names.events_stream)).state.messages


@asynccontextmanager
async def celery_backlog(url: str) -> AsyncGenerator[CountLeft]:
    """Count the Celery tasks that wait or run."""
    redis = Redis.from_url(url)

    async def count_left() -> int:
        pipeline = redis.pipeline(transaction=True)
        pipeline.llen(CELERY_QUEUE)
        pipeline.hlen(CELERY_UNACKNOWLEDGED)
        return sum(await pipeline.execute())

    try:
        yield count_left
    finally:
        await redis.aclose()
