"""`DirectDevice`, the sending half of the Python client: numbered, and repeated for as long as refusals pass."""

import pytest

from tests.direct.support import befriend, open_pair, texts
from tests.realtime.live_nats import LiveNats
from tests.realtime.test_client import client_of
from tests.support import Person
from tintype.base.errors import RateLimited
from tintype.client import CommandRefused, DirectDevice
from tintype.direct import Sent
from tintype.wiring import Rooms
from tintype.worker import Worker

pytestmark = pytest.mark.slow


async def test_a_bots_messages_are_numbered_and_sent_again_until_they_are_accepted(
    live_worker: Worker,
    live_rooms: Rooms,
    live_nats: LiveNats,
    ana: Person,
    bo: Person,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await befriend(ana, bo)
    thread_id = await open_pair(ana, bo)
    send, attempts = live_rooms.direct.send, list[str]()

    async def send_when_asked_twice(*given: object) -> Sent:
        attempts.append("")
        if len(attempts) == 1:
            raise RateLimited(retry_after_s=1)
        return await send(*given)  # pyright: ignore[reportArgumentType] - passed on as it is

    monkeypatch.setattr(live_rooms.direct, "send", send_when_asked_twice)
    async with client_of(live_nats, ana, since=0) as live:
        bot = DirectDevice(live)
        first = await bot.send(thread_id, "one", local_id="stored-before")
        assert (first.number, bot.counters) == (1, {thread_id: 1})

        restarted = DirectDevice(live, bot.device_id)  # killed before it stored that the first was answered
        assert await restarted.send(thread_id, "one", local_id="stored-before") == first
        assert (await restarted.send(thread_id, "two")).number == 2
        with pytest.raises(CommandRefused) as refused:
            await bot.send(thread_id, "three")  # its count is behind
    assert refused.value.code == "counter_used"
    assert await texts(bo, thread_id) == ["one", "two"]
