import asyncio

from tests.support import eventually
from tintype.base.nats import NatsNames
from tintype.base.relay_pokes import PAUSE_S, RelayPokes
from tintype.wiring import Rooms


async def test_many_commits_are_one_poke_now_and_one_at_the_end_of_the_pause(rooms: Rooms) -> None:
    names = NatsNames(rooms.settings.namespace)
    received: list[str] = []

    async def receive(message: object) -> None:
        received.append(str(message))

    subscription = await rooms.nats.subscribe(names.poke("one"), cb=receive)
    pokes = RelayPokes(rooms.nats, names)
    for _ in range(50):
        await pokes.poke("one")
    await rooms.nats.flush()
    after_the_first = len(received)

    async def has_second() -> bool:
        return len(received) == 2

    await eventually(has_second, what="the others were poked together")
    await asyncio.sleep(2 * PAUSE_S)
    await rooms.nats.flush()
    await subscription.unsubscribe()

    assert after_the_first in {1, 2}
    assert len(received) == 2
