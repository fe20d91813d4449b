"""The Python client: each update once and in order, over gaps, reconnects and crashes of everything in between."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from httpx import ASGITransport, AsyncBaseTransport, AsyncClient, Request, Response

from tests.notifications.support import id_of
from tests.realtime.live_nats import LiveNats
from tests.support import Person, eventually
from tests.workers import run_worker
from tintype.base.nats import NatsNames
from tintype.client import CommandRefused, LiveClient, LiveUpdate, ResetNeeded, SignedOut
from tintype.realtime import Command
from tintype.sync import Update
from tintype.wiring import Rooms
from tintype.worker import Worker

pytestmark = pytest.mark.slow


def client_of(server: LiveNats, person: Person, **options: Any) -> LiveClient:
    """A client on TCP, whose HTTP calls go to the application of this test."""
    transport = person.client._transport
    assert isinstance(transport, ASGITransport)
    return LiveClient(
        "http://testserver.local",
        person.token,
        broker=("127.0.0.1", server.ports.mqtt_port),
        transport=transport,
        **options,
    )


class Listener:
    """Collects what a client delivers."""

    def __init__(self, live: LiveClient) -> None:
        self.live, self.heard = live, list[LiveUpdate]()
        self.end: Exception | None = None

    async def run(self) -> None:
        try:
            async for update in self.live.updates():
                self.heard.append(update)
        except (ResetNeeded, SignedOut) as error:
            self.end = error

    @property
    def keys(self) -> list[str]:
        return [each.payload["key"] for each in self.heard]


@asynccontextmanager
async def listening(live: LiveClient) -> AsyncGenerator[Listener]:
    async with live:
        listener = Listener(live)
        task = asyncio.create_task(listener.run())
        await live.wait_connected()
        yield listener
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def append(rooms: Rooms, person: Person, *keys: str) -> None:
    await rooms.sync.append([Update(id_of(person), key, "test", {"key": key}) for key in keys])


async def hears(listener: Listener, *keys: str) -> None:
    async def is_there() -> bool:
        return len(listener.heard) >= len(keys)

    await eventually(is_there, what=f"{len(keys)} updates arrive, not {listener.keys}")
    assert listener.keys == list(keys)


async def test_updates_arrive_live_and_after_a_stored_position(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person
) -> None:
    await append(live_rooms, ana, "a", "b", "c")
    async with listening(client_of(live_nats, ana, since=1)) as listener:
        await hears(listener, "b", "c")
        await append(live_rooms, ana, "d")
        await hears(listener, "b", "c", "d")
    async with listening(client_of(live_nats, ana)) as newcomer:
        await append(live_rooms, ana, "e")
        await hears(newcomer, "e")


async def test_a_gap_is_filled_and_repeated_messages_are_dropped(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = NatsNames.user(int(ana.account_id), "updates")
    async with listening(client_of(live_nats, ana, since=0)) as listener:
        await append(live_rooms, ana, "a")
        await hears(listener, "a")
        with monkeypatch.context() as patch:
            patch.setattr(live_rooms.sync._writer, "_nats", _Deaf())
            await append(live_rooms, ana, "b", "c")  # stored, and published to nobody
        await append(live_rooms, ana, "d")
        await hears(listener, "a", "b", "c", "d")
        await append(live_rooms, ana, "a", "d")  # repeated: published again under the same numbers
        await live_rooms.nats.publish(topic, b'{"seq":2,"kind":"test","at":"","payload":{"key":"b"}}')
        await append(live_rooms, ana, "e")
        await hears(listener, "a", "b", "c", "d", "e")


class _Deaf:
    async def publish(self, *_: Any) -> None:
        """Lost on the way."""


async def test_a_lost_last_message_is_found_by_the_next_look(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with listening(client_of(live_nats, ana, since=0, check_every_s=0.1)) as listener:
        with monkeypatch.context() as patch:
            patch.setattr(live_rooms.sync._writer, "_nats", _Deaf())
            await append(live_rooms, ana, "a")
        await hears(listener, "a")


async def test_nothing_is_missed_or_repeated_while_nats_is_killed_and_the_worker_restarted(
    live_rooms: Rooms, live_nats: LiveNats, ana: Person
) -> None:
    done: list[str] = []

    async def count(command: Command) -> dict[str, Any]:
        if command.id not in done:  # idempotent, as every handler
            done.append(command.id)
        return {"number": done.index(command.id)}

    live_rooms.realtime.commands.register("test.count", count)
    async with (
        run_worker(live_rooms, schedules=()),
        listening(client_of(live_nats, ana, since=0)) as listener,
    ):
        await append(live_rooms, ana, "1", "2")
        await listener.live.command("test.count", command_id="first")
        live_nats.kill()
        await append(live_rooms, ana, "3")
        sending = asyncio.create_task(listener.live.command("test.count", command_id="second"))
        await live_nats.start()
        await append(live_rooms, ana, "4")
        assert await sending == {"number": 1}
        await hears(listener, "1", "2", "3", "4")
        stopped = listener
        await append(live_rooms, ana, "5")
        await hears(stopped, "1", "2", "3", "4", "5")
    async with listening_without_worker(live_nats, ana) as waiting:
        await append(live_rooms, ana, "6")
        async with run_worker(live_rooms, schedules=()):
            await waiting.live.wait_connected()
            await hears(waiting, "6")
            assert await waiting.live.command("test.count", command_id="first") == {"number": 0}
    assert done == ["first", "second"]


@asynccontextmanager
async def listening_without_worker(server: LiveNats, person: Person) -> AsyncGenerator[Listener]:
    async with client_of(server, person, since=5) as live:
        listener = Listener(live)
        task = asyncio.create_task(listener.run())
        yield listener
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_the_client_says_when_it_must_begin_anew_and_when_it_is_signed_out(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person
) -> None:
    async with client_of(live_nats, ana, since=9) as ahead:
        with pytest.raises(ResetNeeded):
            await anext(ahead.updates())

    async with listening(client_of(live_nats, ana)) as listener:
        with pytest.raises(CommandRefused) as refused:
            await listener.live.command("no.such")
        assert refused.value.code == "command_unknown"
        await ana.call("DELETE", "/sessions/current")

        async def is_signed_out() -> bool:
            return isinstance(listener.end, SignedOut)

        await eventually(is_signed_out, what="the client learns that its session ended")


async def test_notifications_and_new_posts_arrive_live(
    live_worker: Worker,
    live_rooms: Rooms,
    live_nats: LiveNats,
    live_client: AsyncClient,
    ana: Person,
    bo: Person,
) -> None:
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")
    async with (
        listening(client_of(live_nats, ana, since=0)) as listener,
        client_of(live_nats, bo) as follower,
    ):
        await follower.wait_connected()
        post = await ana.publish()

        async with asyncio.timeout(60):
            assert await anext(follower.signals()) == ("feed", {"post_id": post["post_id"]})
        await bo.call("PUT", f"/posts/{post['post_id']}/like")

        async def is_counted() -> bool:
            return bool(listener.heard) and listener.heard[-1].payload == {"unread_count": 2}

        await eventually(is_counted, what="a follow and a like are counted live")
        assert {each.kind for each in listener.heard} == {"notification"}

        await ana.call("POST", "/notifications/read", json={})

        async def is_read() -> bool:
            return listener.heard[-1].payload == {"unread_count": 0}

        await eventually(is_read, what="other devices hear that all was read")


class ForgetfulTransport(AsyncBaseTransport):
    """Answers nothing and forgets the first cancellation, as `wait_for` of Python 3.11 can."""

    def __init__(self) -> None:
        self.is_asked, self.cancellations = asyncio.Event(), 0

    async def handle_async_request(self, request: Request) -> Response:
        assert request.url.host == "testserver.local"
        self.is_asked.set()
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancellations += 1
                if self.cancellations > 1:
                    raise


async def test_a_client_ends_although_a_library_forgets_that_it_was_cancelled() -> None:
    transport = ForgetfulTransport()

    async with LiveClient("http://testserver.local", "token", transport=transport):
        await transport.is_asked.wait()

    assert transport.cancellations == 2
