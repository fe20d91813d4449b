"""Helpers for tests of moderation: appoint moderators, report, decide."""

from typing import Any

from httpx import AsyncClient

from tests.support import Person, join
from tintype.base.ids import AccountId
from tintype.wiring import Rooms


def id_of(person: Person) -> AccountId:
    return AccountId(int(person.account_id))


async def appoint(rooms: Rooms, client: AsyncClient, name: str, role: str = "moderator") -> Person:
    """A new account with the role of a moderator or operator."""
    person = await join(client, name)
    async with rooms.shards.owner(id_of(person)).begin() as tx:
        await tx.connection.execute("UPDATE accounts SET role = $1 WHERE id = $2", role, id_of(person))
    await rooms.accounts.invalidate(id_of(person))
    return person


async def handle(rooms: Rooms, *events: Any) -> None:
    """Run every handler of the room on these events, in this order."""
    for event in events:
        for handler in rooms.moderation.handlers():
            if handler.event is type(event):
                await handler.run(event)


async def report(by: Person, kind: str, object_id: str, **more: Any) -> Any:
    body = {"kind": kind, "object_id": object_id, "reason": "spam", **more}
    return await by.call("POST", "/reports", json=body)


async def list_cases(moderator: Person, **params: Any) -> list[dict[str, Any]]:
    answer = await moderator.call("GET", "/moderation/cases", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()["cases"]


async def decide(moderator: Person, case: dict[str, Any], action: str, reason: str = "because") -> Any:
    path = f"/moderation/cases/{case['case_id']}/acts"
    return await moderator.call("POST", path, json={"action": action, "reason": reason})


async def get_case(moderator: Person, case: dict[str, Any]) -> dict[str, Any]:
    return (await moderator.call("GET", f"/moderation/cases/{case['case_id']}")).json()
