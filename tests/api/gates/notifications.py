"""Notifications: everybody has their own list."""

import itertools
from typing import Any

from tests.api.gates.gate import OWN, PEOPLE, Gate, open_to
from tests.api.gates.world import Actor, Kind, World, account_id, ok

ACTS = itertools.count(1)


async def _line(world: World, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A line of the author's list."""
    owner = world.targets[kind].owner
    await world.rooms.notifications.warn(account_id(owner), object_id=next(ACTS), act_id=next(ACTS))
    page = await ok(owner.call("GET", "/notifications"))
    return {"notification_id": page["notifications"][0]["notification_id"]}


async def _up_to(world: World, kind: Kind, actor: Actor) -> dict[str, Any]:
    """Everything up to a line of the author's, which is in nobody else's list."""
    return {"json": {"up_to": (await _line(world, kind, actor))["notification_id"]}}


async def _kind(_world: World, _kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"kind": "like", "json": {"audience": "everyone", "is_pushed": True}}


QUIET = {"begin": 0, "end": 60}
LIST = "/api/v1/notifications"

GATES: dict[str, Gate] = {
    f"GET {LIST}": open_to(PEOPLE),
    f"GET {LIST}/unread": open_to(PEOPLE),
    f"POST {LIST}/read": open_to(OWN, prepare=_up_to),
    f"PUT {LIST}/{{notification_id}}/read": open_to(OWN, prepare=_line, hides=True),
    f"DELETE {LIST}/{{notification_id}}": open_to(OWN, prepare=_line, hides=True),
    f"GET {LIST}/settings": open_to(PEOPLE),
    f"PUT {LIST}/settings/kinds/{{kind}}": open_to(PEOPLE, prepare=_kind),
    f"PUT {LIST}/settings/quiet-hours": open_to(PEOPLE, body=QUIET),
    f"DELETE {LIST}/settings/quiet-hours": open_to(PEOPLE),
}
