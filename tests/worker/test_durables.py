"""Durables across releases: what an older release left is handled, and nothing is held for handlers that are gone."""

from collections.abc import Awaitable, Callable, Sequence

from nats.js import JetStreamContext

from tests.support import eventually
from tests.worker.conftest import NumberNoted, Run, recording
from tintype.base.nats import NatsNames
from tintype.wiring import Rooms
from tintype.worker.durables import durable_config
from tintype.worker.streams import ensure_streams

Publish = Callable[..., Awaitable[None]]


async def test_a_release_with_other_handlers_handles_what_the_last_one_left(
    run_worker: Run, publish: Publish, rooms: Rooms
) -> None:
    names, js = NatsNames(rooms.settings.namespace), rooms.nats.jetstream()
    await ensure_streams(js, names)
    # Durables of an older release: one of each handler, and one of another set of handlers.
    await _add_durable(js, names, "tests-kept", [names.event("number_noted"), names.retry("tests-kept")])
    await _add_durable(js, names, "number_noted-0123456789ab", [names.event("number_noted")])
    for number in range(8):
        await js.publish(names.event("number_noted"), NumberNoted(number).encode())
    await js.publish(names.retry("tests-kept"), NumberNoted(50).encode())
    await _handle(js, names, "tests-kept", take=6, acknowledge=4)
    await _handle(js, names, "number_noted-0123456789ab", take=3, acknowledge=2)

    kept: list[int] = []
    added: list[int] = []
    async with run_worker(recording(kept, name="tests-kept"), recording(added, name="tests-new")) as worker:
        left = set(range(2, 8))  # both older durables had finished the first two
        await eventually(
            _is(lambda: set(kept) == left | {50} and set(added) == left), what="the rest was handled"
        )
        assert await worker.stale_durables.delete(stale_s=3600) == []
        deleted = await worker.stale_durables.delete(stale_s=0)
        assert set(deleted) == {"tests-kept", "number_noted-0123456789ab"}
        await publish(100)
        await eventually(_is(lambda: 100 in kept and 100 in added), what="its own durables are still there")
        await eventually(lambda: _is_empty(js, names), what="nothing is held for durables that nobody uses")

    assert sorted(kept) == sorted({*kept})


async def test_a_durable_that_another_release_pulls_from_is_not_deleted(
    run_worker: Run, publish: Publish, rooms: Rooms
) -> None:
    names, js = NatsNames(rooms.settings.namespace), rooms.nats.jetstream()
    old: list[int] = []
    new: list[int] = []
    async with run_worker(recording(old)), run_worker(recording(new, name="tests-new")) as worker:
        await publish(1)
        await eventually(_is(lambda: old == new == [1]), what="both releases handle events side by side")
        await eventually(lambda: _are_pulled(js, names), what="both wait for more")
        assert await worker.stale_durables.delete(stale_s=0) == []


async def test_a_deleted_durable_that_is_used_after_all_is_created_again(
    run_worker: Run, publish: Publish, rooms: Rooms
) -> None:
    names, js = NatsNames(rooms.settings.namespace), rooms.nats.jetstream()
    seen: list[int] = []
    async with run_worker(recording(seen)):
        await publish(1)
        await eventually(_is(lambda: seen == [1]), what="events are handled")
        for info in await js.consumers_info(names.events_stream):
            await js.delete_consumer(names.events_stream, info.name)
        await eventually(lambda: _are_pulled(js, names), what="it is there again")
        await publish(2)
        await eventually(_is(lambda: seen == [1, 2]), what="events are handled again")


async def _add_durable(js: JetStreamContext, names: NatsNames, name: str, subjects: Sequence[str]) -> None:
    config = durable_config(name, subjects, ack_wait_s=30, is_one_at_a_time=False)
    await js.add_consumer(names.events_stream, config)


async def _handle(
    js: JetStreamContext, names: NatsNames, durable: str, *, take: int, acknowledge: int
) -> None:
    subscription = await js.pull_subscribe_bind(consumer=durable, stream=names.events_stream)
    for message in (await subscription.fetch(take))[:acknowledge]:
        await message.ack_sync()
    await subscription.unsubscribe()


async def _are_pulled(js: JetStreamContext, names: NatsNames) -> bool:
    infos = await js.consumers_info(names.events_stream)
    return bool(infos) and all(info.num_waiting for info in infos)


async def _is_empty(js: JetStreamContext, names: NatsNames) -> bool:
    return (await js.stream_info(names.events_stream)).state.messages == 0


def _is(claim: Callable[[], bool]) -> Callable[[], Awaitable[bool]]:
    async def check() -> bool:
        return claim()

    return check
