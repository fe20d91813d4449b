"""Helpers for tests of direct messages: devices that count, threads, inboxes."""

import secrets
from dataclasses import dataclass, field
from typing import Any, cast

import asyncpg

from tests.support import Person, on_server
from tintype.base.events import Event
from tintype.base.ids import AccountId
from tintype.direct import ThreadId
from tintype.wiring import Rooms


@dataclass
class Device:
    """One device of somebody, which numbers its changes in each thread."""

    person: Person
    device_id: str = field(default_factory=lambda: f"device-{secrets.token_hex(4)}")
    counters: dict[str, int] = field(default_factory=dict[str, int])

    def change(self, thread_id: str, **more: Any) -> dict[str, Any]:
        """The body of the device's next change in a thread."""
        return {
            "device_id": self.device_id,
            "local_id": secrets.token_hex(8),
            "counter": self.counters.get(thread_id, 0) + 1,
            **more,
        }

    async def put(self, thread_id: str, path: str, **more: Any) -> int:
        """Change a message; returns the status, and counts what was accepted."""
        answer = await self.person.call(
            "PUT", f"/direct/threads/{thread_id}/messages/{path}", json=self.change(thread_id, **more)
        )
        self.counters[thread_id] = self.counters.get(thread_id, 0) + answer.is_success
        return answer.status_code

    async def try_send(self, thread_id: str, text: str = "hi", **more: Any) -> Any:
        """Send a message; counts it if it was accepted."""
        answer = await send(self.person, thread_id, self.change(thread_id, text=text, **more))
        self.counters[thread_id] = self.counters.get(thread_id, 0) + answer.is_success
        return answer

    async def send(self, thread_id: str, text: str = "hi", **more: Any) -> dict[str, Any]:
        """Send a message that must be accepted."""
        answer = await self.try_send(thread_id, text, **more)
        assert answer.status_code == 201, answer.text
        return answer.json()


async def send(person: Person, thread_id: str, body: dict[str, Any]) -> Any:
    return await person.call("POST", f"/direct/threads/{thread_id}/messages", json=body)


async def open_pair(one: Person, other: Person) -> str:
    """The thread of two people."""
    answer = await one.call("POST", "/direct/threads", json={"account_ids": [other.account_id]})
    assert answer.status_code == 201, answer.text
    return answer.json()["thread_id"]


async def open_group(creator: Person, *others: Person, name: str = "", local_id: str = "") -> str:
    body = {
        "account_ids": [each.account_id for each in others],
        "name": name,
        "local_id": local_id or secrets.token_hex(8),
    }
    answer = await creator.call("POST", "/direct/threads", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()["thread_id"]


async def befriend(*people: Person) -> None:
    """Everybody follows everybody, so that nobody is a stranger."""
    for one in people:
        for other in people:
            if one is not other:
                answer = await one.call("PUT", f"/accounts/{other.account_id}/follow")
                assert answer.is_success, answer.text


async def texts(person: Person, thread_id: str) -> list[str]:
    """What somebody reads in a thread, oldest first."""
    answer = await person.call("GET", f"/direct/threads/{thread_id}/messages", params={"limit": 50})
    assert answer.status_code == 200, answer.text
    return [each["text"] for each in reversed(answer.json()["messages"])]


async def inbox(person: Person, folder: str = "inbox") -> list[dict[str, Any]]:
    answer = await person.call("GET", "/direct/threads", params={"folder": folder})
    assert answer.status_code == 200, answer.text
    return answer.json()["threads"]


async def unread(person: Person) -> dict[str, int]:
    return (await person.call("GET", "/direct/unread")).json()


async def get_thread(person: Person, thread_id: str, **params: str) -> dict[str, Any]:
    answer = await person.call("GET", f"/direct/threads/{thread_id}", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def status(person: Person, method: str, path: str, **options: Any) -> int:
    return (await person.call(method, path, **options)).status_code


async def code(answer: Any) -> str:
    """The stable code of a refusal."""
    return (await answer).json()["code"]


def id_of(person: Person) -> AccountId:
    return AccountId(int(person.account_id))


async def stored_events(rooms: Rooms) -> list[Event]:
    """The events of this room in all outboxes, oldest first."""
    found: list[Event] = []
    kinds = {each.event.name: each.event for each in rooms.direct.handlers()}
    for dsn in rooms.settings.postgres_admin:
        rows = await on_server(dsn, "SELECT event, payload FROM common.outbox ORDER BY id")
        found += [kinds[row["event"]].decode(row["payload"]) for row in rows if row["event"] in kinds]
    return found


async def handle(rooms: Rooms, events: list[Event]) -> None:
    """Run the room's handlers on events, in this order, each type as one batch."""
    for handler in rooms.direct.handlers():
        own = [each for each in events if isinstance(each, handler.event)]
        if own and handler.run_many is not None:
            await handler.run_many(own)
        elif own:
            for each in own:
                await handler.run(each)


async def query(rooms: Rooms, near: int, statement: str) -> list[asyncpg.Record]:
    """The rows of a statement on the shard that an id names."""
    async with rooms.shards.owner(near).begin() as tx:
        return cast("list[asyncpg.Record]", await tx.connection.fetch(statement))


def thread_of(text: str) -> ThreadId:
    return ThreadId(int(text))
