"""Exports and departures: one's own, and nobody else's."""

from typing import Any

from tests.api.gates.gate import EVERYBODY, OWN, PEOPLE, Answers, Gate, open_to
from tests.api.gates.world import Actor, Kind, World, account_id
from tintype.belongings import ExportRequested


async def _none_under_way(world: World, kind: Kind, actor: Actor) -> dict[str, Any]:
    """One at a time: what the last call asked for is gone."""
    person = world.person(actor, kind)
    if person is not None:
        await world.rooms.departures.exports.erase(account_id(person))
    return {}


async def _export(world: World, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A finished archive of the author's."""
    exports, owner = world.rooms.departures.exports, account_id(world.targets[kind].owner)
    ready = [each for each in await exports.list_own(owner) if each.state == "ready"]
    if not ready:
        await exports.erase(owner)
        ready = [await exports.request(owner)]
        await exports.make(ExportRequested(owner, ready[0].id))
    return {"export_id": str(ready[0].id)}


WRONG_PASSWORD: Answers = {**dict.fromkeys(EVERYBODY, 403), "anonymous": 401}
"""Nobody leaves by this call: the others still need them."""

GATES: dict[str, Gate] = {
    "POST /api/v1/accounts/me/deletion": open_to(WRONG_PASSWORD, body={"password": "not the password"}),
    "POST /api/v1/accounts/me/exports": open_to(PEOPLE, prepare=_none_under_way),
    "GET /api/v1/accounts/me/exports": open_to(PEOPLE),
    "GET /api/v1/accounts/me/exports/{export_id}": open_to(OWN, prepare=_export, hides=True),
    "GET /api/v1/accounts/me/exports/{export_id}/file": open_to(OWN, prepare=_export, hides=True),
}
