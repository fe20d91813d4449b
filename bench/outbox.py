"""What guaranteed delivery costs: the outbox compared with bare JetStream.

Ours: events committed with a write on a shard (ten to a transaction, as a busy site has them), relayed to
JetStream and handled. Reference: the same messages published straight to JetStream, which keeps none of our
promises, and pulled and acknowledged by a bare consumer in batches of 250. Both end when the last message is done.
"""

import asyncio
import time

from nats.js.api import ConsumerConfig, RetentionPolicy, StreamConfig

from bench.bench_rooms import open_bench_rooms
from bench.harness import BenchResult, main
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
    ratios = sorted(mine / theirs for mine, theirs in zip(ours, bare, strict=True))
    return BenchResult(
        name=NAME,
        ratio=ratios[len(ratios) // 2],
        against="bare JetStream, published and consumed without any promise",
        spread=(ratios[0], ratios[-1]),
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
        for _ in range(rounds):
            ours.append(await _through_the_outbox(rooms, events))
            bare.append(await _through_jetstream(rooms, events))
            print(f"outbox {ours[-1]:.0f}/s, bare {bare[-1]:.0f}/s")
    return ours, bare


async def _through_the_outbox(rooms: Rooms, events: int) -> float:
    left, is_done = events, asyncio.Event()

    async def handle(_: BenchNoted) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            is_done.set()

    handler = on(BenchNoted, handle, name="bench", concurrency=BATCH)
    worker = Worker(rooms.settings, rooms.shards, rooms.nats, handlers=[handler], schedules=[])
    running = asyncio.create_task(worker.run())
    await asyncio.sleep(1)  # consumers and relays are up
    started = time.perf_counter()
    await asyncio.gather(*(_write(rooms, events // WRITERS, writer) for writer in range(WRITERS)))
    await is_done.wait()
    rate = events / (time.perf_counter() - started)
    worker.stop()
    await running
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
    started = time.perf_counter()
    publishing = asyncio.create_task(_publish(rooms, payload, events))
    left = events
    while left:
        for message in await pulled.fetch(BATCH, timeout=5):
            await message.ack()
            left -= 1
    await publishing
    rate = events / (time.perf_counter() - started)
    await js.delete_stream("bare")
    return rate


async def _publish(rooms: Rooms, payload: bytes, events: int) -> None:
    js = rooms.nats.jetstream()
    for _ in range(0, events, BATCH):
        await asyncio.gather(*(js.publish("bare", payload) for _ in range(BATCH)))


if __name__ == "__main__":
    main(run, __doc__)
