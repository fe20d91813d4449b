import asyncio

from tests.support import eventually
from tintype.base.nats import NatsNames
from tintype.base.relay_pokes import PAUSE_S, RelayPokes
from tintype.wiring import Rooms

COMMITS = 2_000


async def test_many_commits_are_one_poke_now_and_one_at_the_end_of_each_pause(rooms: Rooms) -> None:
    names = NatsNames(rooms.settings.namespace)
    received: list[str] = []

    async def receive(message: object) -> None:
        received.append(str(message))

    subscription = await rooms.nats.subscribe(names.poke("one"), cb=receive)
    pokes = RelayPokes(rooms.nats, names)
    loop = asyncio.get_running_loop()
    began = loop.time()
    for _ in range(COMMITS):
        await pokes.poke("one")
    pauses = (loop.time() - began) / PAUSE_S

    async def has_second() -> bool:
        return len(received) >= 2

    await eventually(has_second, what="the others were poked together")
    await subscription.unsubscribe()

    assert len(received) <= pauses + 2
    assert len(received) < COMMITS
