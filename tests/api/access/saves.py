"""Saves and collections: all of it is the caller's own."""

import secrets
from typing import Any

from tests.api.access.access_rule import OWN, PEOPLE, TOUCH, AccessRule, access
from tests.api.access.scenario import Actor, Kind, Scenario, ok


async def _collection(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A collection of the author's, with the author's post in it."""
    target = scenario.targets[kind]
    made = await ok(target.owner.call("POST", "/collections", json={"name": secrets.token_hex(8)}))
    await ok(target.owner.call("PUT", f"/collections/{made['collection_id']}/posts/{target.post_id}"))
    return {"collection_id": made["collection_id"]}


async def _name(_world: Scenario, _kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"json": {"name": secrets.token_hex(8)}}


ACCESS_RULES: dict[str, AccessRule] = {
    "PUT /api/v1/posts/{post_id}/save": access(TOUCH, body={}, hides=True),
    "DELETE /api/v1/posts/{post_id}/save": access(PEOPLE),
    "GET /api/v1/saves": access(PEOPLE),
    "GET /api/v1/collections": access(PEOPLE),
    "POST /api/v1/collections": access(PEOPLE, prepare=_name),
    "PUT /api/v1/collections/order": access(PEOPLE, body={"collection_ids": []}),
    "PATCH /api/v1/collections/{collection_id}": access(OWN, prepare=_collection, body={}, hides=True),
    "DELETE /api/v1/collections/{collection_id}": access(OWN, prepare=_collection, hides=True),
    "PUT /api/v1/collections/{collection_id}/posts/{post_id}": access(OWN, prepare=_collection),
    "DELETE /api/v1/collections/{collection_id}/posts/{post_id}": access(OWN, prepare=_collection),
}
