"""Live connections and presence. Live connections are off on the site of these tests: whoever may ask is told so."""

from typing import Any

from tests.api.access.access_rule import PEOPLE, AccessRule, access, nobody
from tests.api.access.scenario import Actor, Kind, Scenario


async def _author(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"params": {"account_ids": scenario.targets[kind].owner.account_id}}


ACCESS_RULES: dict[str, AccessRule] = {
    "POST /api/v1/realtime/token": access(nobody(404)),
    "GET /api/v1/presence": access(PEOPLE, prepare=_author),
    "GET /api/v1/presence/settings": access(PEOPLE),
    "PUT /api/v1/presence/settings": access(PEOPLE, body={"is_shown": True}),
}
