"""Push subscriptions: everybody's own browsers."""

import secrets
from typing import Any

from tests.api.access.access_rule import OWN, PEOPLE, AccessRule, access
from tests.api.access.scenario import Actor, Kind, Scenario, ok
from tests.notifications.push_service import Browser


def _browser() -> dict[str, Any]:
    return Browser(f"https://push.example.org/{secrets.token_hex(8)}").subscription()


async def _new(_world: Scenario, _kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"json": _browser()}


async def _subscribed(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A browser of the author's."""
    made = await ok(scenario.targets[kind].owner.call("POST", "/push/subscriptions", json=_browser()))
    return {"subscription_id": made["subscription_id"]}


ACCESS_RULES: dict[str, AccessRule] = {
    "GET /api/v1/push/key": access(PEOPLE),
    "GET /api/v1/push/subscriptions": access(PEOPLE),
    "POST /api/v1/push/subscriptions": access(PEOPLE, prepare=_new),
    "DELETE /api/v1/push/subscriptions/{subscription_id}": access(OWN, prepare=_subscribed, hides=True),
}
