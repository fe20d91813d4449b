"""Push subscriptions: everybody's own browsers."""

import secrets
from typing import Any

from tests.api.gates.gate import OWN, PEOPLE, Gate, open_to
from tests.api.gates.world import Actor, Kind, World, ok
from tests.notifications.push_service import Browser


def _browser() -> dict[str, Any]:
    return Browser(f"https://push.example.org/{secrets.token_hex(8)}").subscription()


async def _new(_world: World, _kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"json": _browser()}


async def _subscribed(world: World, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A browser of the author's."""
    made = await ok(world.targets[kind].owner.call("POST", "/push/subscriptions", json=_browser()))
    return {"subscription_id": made["subscription_id"]}


GATES: dict[str, Gate] = {
    "GET /api/v1/push/key": open_to(PEOPLE),
    "GET /api/v1/push/subscriptions": open_to(PEOPLE),
    "POST /api/v1/push/subscriptions": open_to(PEOPLE, prepare=_new),
    "DELETE /api/v1/push/subscriptions/{subscription_id}": open_to(OWN, prepare=_subscribed, hides=True),
}
