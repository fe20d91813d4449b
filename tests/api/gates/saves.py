"""Saves and collections: all of it is the caller's own."""

import secrets
from typing import Any

from tests.api.gates.gate import OWN, PEOPLE, TOUCH, Gate, open_to
from tests.api.gates.world import Actor, Kind, World, ok


async def _collection(world: World, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A collection of the author's, with the author's post in it."""
    target = world.targets[kind]
    made = await ok(target.owner.call("POST", "/collections", json={"name": secrets.token_hex(8)}))
    await ok(target.owner.call("PUT", f"/collections/{made['collection_id']}/posts/{target.post_id}"))
    return {"collection_id": made["collection_id"]}


async def _name(_world: World, _kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"json": {"name": secrets.token_hex(8)}}


GATES: dict[str, Gate] = {
    "PUT /api/v1/posts/{post_id}/save": open_to(TOUCH, body={}, hides=True),
    "DELETE /api/v1/posts/{post_id}/save": open_to(PEOPLE),
    "GET /api/v1/saves": open_to(PEOPLE),
    "GET /api/v1/collections": open_to(PEOPLE),
    "POST /api/v1/collections": open_to(PEOPLE, prepare=_name),
    "PUT /api/v1/collections/order": open_to(PEOPLE, body={"collection_ids": []}),
    "PATCH /api/v1/collections/{collection_id}": open_to(OWN, prepare=_collection, body={}, hides=True),
    "DELETE /api/v1/collections/{collection_id}": open_to(OWN, prepare=_collection, hides=True),
    "PUT /api/v1/collections/{collection_id}/posts/{post_id}": open_to(OWN, prepare=_collection),
    "DELETE /api/v1/collections/{collection_id}/posts/{post_id}": open_to(OWN, prepare=_collection),
}
