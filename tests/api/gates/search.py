"""Search, hashtags, places, and what one searched for."""

import secrets
from typing import Any

from tests.api.gates.gate import EVERYBODY, OWN, PEOPLE, PERSON, Gate, open_to
from tests.api.gates.world import Actor, Kind, World, ok


async def _recent(world: World, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A recent search of the author's."""
    body = {"kind": "words", "subject": secrets.token_hex(4)}
    made = await ok(world.targets[kind].owner.call("POST", "/search/recent", json=body))
    return {"search_id": made["search_id"]}


TYPED = {"q": "gate"}
NAME = {"q": "gate_p"}
LISTED = {"public": "post_id"}
"""A private author's posts are on no page of a tag or a place, for anybody."""

GATES: dict[str, Gate] = {
    "GET /api/v1/search": open_to(PEOPLE, params=NAME, shows=PERSON),
    "GET /api/v1/search/people": open_to(PEOPLE, params=NAME, shows=PERSON),
    "GET /api/v1/search/tags": open_to(PEOPLE, params=TYPED),
    "GET /api/v1/search/places": open_to(PEOPLE, params=TYPED),
    "GET /api/v1/search/recent": open_to(PEOPLE),
    "POST /api/v1/search/recent": open_to(PEOPLE, body={"kind": "words", "subject": "sea"}),
    "DELETE /api/v1/search/recent": open_to(PEOPLE),
    "DELETE /api/v1/search/recent/{search_id}": open_to(OWN, prepare=_recent, hides=True),
    "GET /api/v1/tags/{tag}": open_to(EVERYBODY),
    "GET /api/v1/tags/{tag}/posts": open_to(EVERYBODY, shows=LISTED),
    "POST /api/v1/places": open_to(PEOPLE, body={"name": "Gate", "latitude": 1, "longitude": 2}),
    "GET /api/v1/places/nearby": open_to(PEOPLE, params={"lat": "1", "lon": "2"}),
    "GET /api/v1/places/{place_id}": open_to(EVERYBODY),
    "GET /api/v1/places/{place_id}/posts": open_to(EVERYBODY, shows=LISTED),
}
