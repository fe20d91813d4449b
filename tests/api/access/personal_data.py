"""Exports and account deletion: only for the account itself."""

from typing import Any

from tests.api.access.access_rule import EVERYBODY, OWN, PEOPLE, AccessRule, Answers, access
from tests.api.access.scenario import Actor, Kind, Scenario, account_id
from tintype.personal_data import ExportRequested


async def _none_under_way(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    """One at a time: what the last call asked for is gone."""
    person = scenario.person(actor, kind)
    if person is not None:
        await scenario.rooms.personal_data.delete_exports(account_id(person))
    return {}


async def _export(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A finished archive of the author's."""
    personal_data, owner = scenario.rooms.personal_data, account_id(scenario.targets[kind].owner)
    ready = [each for each in await personal_data.list_exports(owner) if each.state == "ready"]
    if not ready:
        await personal_data.delete_exports(owner)
        ready = [await personal_data.request_export(owner)]
        await personal_data.make_export(ExportRequested(owner, ready[0].id))
    return {"export_id": str(ready[0].id)}


WRONG_PASSWORD: Answers = {**dict.fromkeys(EVERYBODY, 403), "anonymous": 401}
"""Nobody leaves by this call: the others still need them."""

ACCESS_RULES: dict[str, AccessRule] = {
    "POST /api/v1/accounts/me/deletion": access(WRONG_PASSWORD, body={"password": "not the password"}),
    "POST /api/v1/accounts/me/exports": access(PEOPLE, prepare=_none_under_way),
    "GET /api/v1/accounts/me/exports": access(PEOPLE),
    "GET /api/v1/accounts/me/exports/{export_id}": access(OWN, prepare=_export, hides=True),
    "GET /api/v1/accounts/me/exports/{export_id}/file": access(OWN, prepare=_export, hides=True),
}
