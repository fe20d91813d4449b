"""Web Push of messages: once, to those who have not seen them, showing what the recipient chose."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.direct.support import Device, handle, open_pair, status, stored_events
from tests.notifications.push_service import PushService, running_push_service
from tests.notifications.support import handle as notify
from tests.support import Person, on_server
from tintype.direct import MessageSent
from tintype.notifications import MessagePushDue
from tintype.wiring import Rooms

Friends = tuple[Person, Person, Person]


@pytest.fixture
async def service(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[PushService]:
    monkeypatch.setattr(rooms.notifications.push_sender, "may_be_internal", True)
    async with running_push_service() as running:
        yield running
        await rooms.notifications.close()


async def queue(rooms: Rooms) -> list[MessagePushDue]:
    """Handle every message sent so far; returns all pushes that were queued."""
    sent = [each for each in await stored_events(rooms) if isinstance(each, MessageSent)]
    await handle(rooms, [*sent])
    await notify(rooms, *sent)
    sql = "SELECT payload FROM common.outbox WHERE event = 'message_push_due' ORDER BY id"
    rows = [row for dsn in rooms.settings.postgres_admin for row in await on_server(dsn, sql)]
    return [MessagePushDue.decode(row["payload"]) for row in rows]


@pytest.mark.parametrize(
    ("preview", "shown"),
    [("text", ("ana", "hello bo")), ("name", ("ana", None)), ("nothing", (None, None))],
)
async def test_a_push_shows_what_its_recipient_chose(
    rooms: Rooms, service: PushService, friends: Friends, preview: str, shown: tuple[Any, ...]
) -> None:
    ana, bo, _ = friends
    browser = service.browser()
    assert (await browser.subscribe(bo)).status_code == 201
    await bo.call("PUT", "/direct/settings", json={"audience": "everyone", "preview": preview})
    thread_id = await open_pair(ana, bo)
    await Device(ana).send(thread_id, "hello bo")

    await queue(rooms)
    due = await queue(rooms)
    assert len(due) == 1
    await notify(rooms, *due)

    payload = browser.read(service.received[0][1])
    assert (payload["kind"], payload["thread_id"], payload["unread_count"]) == ("message", thread_id, 1)
    assert (payload["username"], payload["text"]) == shown


async def test_what_was_seen_muted_or_unsent_meanwhile_is_not_pushed(
    rooms: Rooms, service: PushService, friends: Friends
) -> None:
    ana, bo, _ = friends
    await service.browser().subscribe(bo)
    thread_id, device = await open_pair(ana, bo), Device(ana)
    path = f"/direct/threads/{thread_id}"

    assert await status(bo, "PUT", f"{path}/mute", json={}) == 204
    await device.send(thread_id, "while muted")
    assert await queue(rooms) == []
    await bo.call("DELETE", f"{path}/mute")
    await bo.call("PUT", f"{path}/seen", json={"number": 1})

    unsent = await device.send(thread_id, "unsent")
    due = await queue(rooms)
    await device.put(thread_id, f"{unsent['message_id']}/unsent")
    await notify(rooms, *due)
    await device.send(thread_id, "seen")
    due = await queue(rooms)
    await bo.call("PUT", f"{path}/seen", json={"number": 3})
    await notify(rooms, *due)

    assert service.received == []
