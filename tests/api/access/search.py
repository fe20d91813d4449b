"""Search, hashtags, places, and what one searched for."""

import secrets
from typing import Any

from tests.api.access.access_rule import EVERYBODY, OWN, PEOPLE, PERSON, AccessRule, access
from tests.api.access.scenario import Actor, Kind, Scenario, ok


async def _recent(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A recent search of the author's."""
    body = {"kind": "words", "subject": secrets.token_hex(4)}
    made = await ok(scenario.targets[kind].owner.call("POST", "/search/recent", json=body))
    return {"search_id": made["search_id"]}


TYPED = {"q": "gate"}
NAME = {"q": "gate_p"}
LISTED = {"public": "post_id"}
"""A private author's posts are on no page of a tag or a place, for anybody."""

ACCESS_RULES: dict[str, AccessRule] = {
    "GET /api/v1/search": access(PEOPLE, params=NAME, shows=PERSON),
    "GET /api/v1/search/people": access(PEOPLE, params=NAME, shows=PERSON),
    "GET /api/v1/search/tags": access(PEOPLE, params=TYPED),
    "GET /api/v1/search/places": access(PEOPLE, params=TYPED),
    "GET /api/v1/search/posts": access(PEOPLE, params=TYPED, shows=LISTED),
    "GET /api/v1/search/recent": access(PEOPLE),
    "POST /api/v1/search/recent": access(PEOPLE, body={"kind": "words", "subject": "sea"}),
    "DELETE /api/v1/search/recent": access(PEOPLE),
    "DELETE /api/v1/search/recent/{search_id}": access(OWN, prepare=_recent, hides=True),
    "GET /api/v1/tags/{tag}": access(EVERYBODY),
    "PUT /api/v1/tags/{tag}/follow": access(PEOPLE),
    "DELETE /api/v1/tags/{tag}/follow": access(PEOPLE),
    "GET /api/v1/followed-tags": access(PEOPLE),
    "GET /api/v1/tags/{tag}/posts": access(EVERYBODY, shows=LISTED),
    "POST /api/v1/places": access(PEOPLE, body={"name": "Gate", "latitude": 1, "longitude": 2}),
    "GET /api/v1/places/nearby": access(PEOPLE, params={"lat": "1", "lon": "2"}),
    "GET /api/v1/places/suggestions": access(PEOPLE, params=TYPED),
    "GET /api/v1/places/mine": access(PEOPLE),
    "GET /api/v1/places/{place_id}": access(EVERYBODY),
    "GET /api/v1/places/{place_id}/posts": access(EVERYBODY, shows=LISTED),
}
