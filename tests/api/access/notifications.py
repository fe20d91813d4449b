"""Notifications: everybody has their own list."""

import itertools
from typing import Any

from tests.api.access.access_rule import OWN, PEOPLE, AccessRule, access
from tests.api.access.scenario import Actor, Kind, Scenario, account_id, ok

ACTS = itertools.count(1)


async def _line(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A line of the author's list."""
    owner = scenario.targets[kind].owner
    await scenario.rooms.notifications.warn(account_id(owner), object_id=next(ACTS), act_id=next(ACTS))
    page = await ok(owner.call("GET", "/notifications"))
    return {"notification_id": page["notifications"][0]["notification_id"]}


async def _up_to(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    """Everything up to a line of the author's, which is in nobody else's list."""
    return {"json": {"up_to": (await _line(scenario, kind, actor))["notification_id"]}}


async def _kind(_world: Scenario, _kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"kind": "like", "json": {"audience": "everyone", "is_pushed": True}}


QUIET = {"begin": 0, "end": 60}
LIST = "/api/v1/notifications"

ACCESS_RULES: dict[str, AccessRule] = {
    f"GET {LIST}": access(PEOPLE),
    f"GET {LIST}/unread": access(PEOPLE),
    f"POST {LIST}/read": access(OWN, prepare=_up_to),
    f"PUT {LIST}/{{notification_id}}/read": access(OWN, prepare=_line, hides=True),
    f"DELETE {LIST}/{{notification_id}}": access(OWN, prepare=_line, hides=True),
    f"GET {LIST}/settings": access(PEOPLE),
    f"PUT {LIST}/settings/kinds/{{kind}}": access(PEOPLE, prepare=_kind),
    f"PUT {LIST}/settings/quiet-hours": access(PEOPLE, body=QUIET),
    f"DELETE {LIST}/settings/quiet-hours": access(PEOPLE),
}
