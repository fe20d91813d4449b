"""What guaranteed delivery costs: the outbox compared with bare JetStream.

Ours: events committed with a write on a shard (ten to a transaction, as a busy site has them), relayed to
JetStream and handled. Reference: the same messages published straight to JetStream, which keeps none of our
promises, and pulled and acknowledged by a bare consumer in batches of 250. The clock of both starts when their consumer
has handled a first message, and stops with the last one; rounds begin with one and the other in turn. The ratio is
events per second, ours over the reference.
"""

import asyncio
import time

from nats.js import JetStreamContext
from nats.js.api import ConsumerConfig, RetentionPolicy, StreamConfig

from bench.bench_rooms import open_bench_rooms
from bench.harness import BenchResult, main, ratio_of
from tintype.base.events import Event
from tintype.base.jobs import on
from tintype.base.outbox import Outbox
from tintype.wiring import Rooms
from tintype.worker import Worker

NAME = "outbox"
PER_TRANSACTION = 10
WRITERS = 8
BATCH = 250
SHARDS = 8


class BenchNoted(Event, frozen=True):
    """An event about as large as a like."""

    number: int
    post_id: int
    account_id: int


def run(*, quick: bool = False) -> BenchResult:
    """Measure both, interleaved, and report events per second of ours over the reference."""
    events, rounds = (2_000, 2) if quick else (20_000, 5)
    ours, bare = asyncio.run(_measure(events, rounds))
    ratio = ratio_of([mine / theirs for mine, theirs in zip(ours, bare, strict=True)])
    return BenchResult(
        name=NAME,
        ratio=ratio.median,
        against="bare JetStream, published and consumed without any promise",
        spread=(ratio.low, ratio.high),
        detail={
            "events": events,
            "events a second": [round(rate) for rate in ours],
            "bare": [round(rate) for rate in bare],
        },
    )


async def _measure(events: int, rounds: int) -> tuple[list[float], list[float]]:
    ours: list[float] = []
    bare: list[float] = []
    async with open_bench_rooms(shard_count=SHARDS) as rooms:
        for number in range(rounds):
            if number % 2:
                bare.append(await _through_jetstream(rooms, events))
            ours.append(await _through_the_outbox(rooms, events))
            if number % 2 == 0:
                bare.append(await _through_jetstream(rooms, events))
            print(f"outbox {ours[-1]:.0f}/s, bare {bare[-1]:.0f}/s")
    return ours, bare


class HandledEvents:
    """Counts the events of a round as they are handled, and knows when the last one is."""

    def __init__(self) -> None:
        self._left, self._is_done = 0, asyncio.Event()

    def expect(self, events: int) -> None:
        """Begin to count this many events."""
        self._left = events
        self._is_done.clear()

    async def handle(self, events: list[BenchNoted]) -> None:
        """Handle some events."""
        self._left -= len(events)
        if self._left == 0:
            self._is_done.set()

    async def wait(self) -> None:
        """Wait for the last of the expected events."""
        await self._is_done.wait()


async def _through_the_outbox(rooms: Rooms, events: int) -> float:
    handled = HandledEvents()
    handler = on(BenchNoted, handled.handle, name="bench", many=True)
    worker = Worker(rooms.settings, rooms.shards, rooms.nats, handlers=[handler], schedules=[])
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(worker.run())
        handled.expect(PER_TRANSACTION * SHARDS)  # relays of all servers and the consumer are up
        await _write(rooms, PER_TRANSACTION * SHARDS, writer=0)
        await handled.wait()
        handled.expect(events)
        started = time.perf_counter()
        await asyncio.gather(*(_write(rooms, events // WRITERS, writer) for writer in range(WRITERS)))
        await handled.wait()
        rate = events / (time.perf_counter() - started)
        worker.stop()
    return rate


async def _write(rooms: Rooms, events: int, writer: int) -> None:
    async def poke(server: str) -> None:
        await rooms.nats.publish(f"{rooms.settings.namespace}.poke.{server}")

    outbox = Outbox(poke)
    for start in range(0, events, PER_TRANSACTION):
        async with rooms.shards.shard((start + writer) % SHARDS).begin() as tx:
            await outbox.add(
                tx, *(BenchNoted(start + each, 1 << 60, 1 << 59) for each in range(PER_TRANSACTION))
            )


async def _through_jetstream(rooms: Rooms, events: int) -> float:
    js = rooms.nats.jetstream()
    await js.add_stream(StreamConfig(name="bare", subjects=["bare"], retention=RetentionPolicy.INTEREST))
    await js.add_consumer("bare", ConsumerConfig(durable_name="bare", max_ack_pending=4 * BATCH))
    pulled = await js.pull_subscribe_bind(consumer="bare", stream="bare")
    payload = BenchNoted(1, 1 << 60, 1 << 59).encode()
    await js.publish("bare", payload)
    await _pull(pulled, 1)
    started = time.perf_counter()
    await asyncio.gather(_publish(rooms, payload, events), _pull(pulled, events))
    rate = events / (time.perf_counter() - started)
    await js.delete_stream("bare")
    return rate


async def _pull(pulled: JetStreamContext.PullSubscription, count: int) -> None:
    """Acknowledge this many messages; never asks for more than there will be, or the last call would wait in vain."""
    while count:
        for message in await pulled.fetch(min(BATCH, count), timeout=5):
            await message.ack()
            count -= 1


async def _publish(rooms: Rooms, payload: bytes, events: int) -> None:
    js = rooms.nats.jetstream()
    for _ in range(0, events, BATCH):
        await asyncio.gather(*(js.publish("bare", payload) for _ in range(BATCH)))


if __name__ == "__main__":
    main(run, __doc__)
