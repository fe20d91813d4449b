"""Search, hashtags, places, and what one searched for."""

import secrets
from typing import Any

from tests.api.gates.gate import EVERYBODY, OWN, PEOPLE, Gate, open_to
from tests.api.gates.world import Actor, Kind, World, account_id, ok
from tintype.search import QUERIES, tag_topic

TAG = "gate"


async def _tag(world: World, _kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A tag that is in use; which of its posts are shown is another question."""
    shard = world.rooms.shards.of(tag_topic(TAG))
    await shard.execute(QUERIES.open_topic, topic=tag_topic(TAG))
    await shard.execute(QUERIES.count_topic, topic=tag_topic(TAG), delta=1)
    return {"tag": TAG}


async def _place(world: World, kind: Kind, _actor: Actor) -> dict[str, Any]:
    made = await world.rooms.search.places.name(account_id(world.targets[kind].owner), "Gate", 1.0, 2.0)
    return {"place_id": made.id}


async def _recent(world: World, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A recent search of the author's."""
    body = {"kind": "words", "subject": secrets.token_hex(4)}
    made = await ok(world.targets[kind].owner.call("POST", "/search/recent", json=body))
    return {"search_id": made["search_id"]}


TYPED = {"q": "gate"}

GATES: dict[str, Gate] = {
    "GET /api/v1/search": open_to(PEOPLE, params=TYPED),
    "GET /api/v1/search/people": open_to(PEOPLE, params=TYPED),
    "GET /api/v1/search/tags": open_to(PEOPLE, params=TYPED),
    "GET /api/v1/search/places": open_to(PEOPLE, params=TYPED),
    "GET /api/v1/search/recent": open_to(PEOPLE),
    "POST /api/v1/search/recent": open_to(PEOPLE, body={"kind": "words", "subject": "sea"}),
    "DELETE /api/v1/search/recent": open_to(PEOPLE),
    "DELETE /api/v1/search/recent/{search_id}": open_to(OWN, prepare=_recent, hides=True),
    "GET /api/v1/tags/{tag}": open_to(EVERYBODY, prepare=_tag),
    "GET /api/v1/tags/{tag}/posts": open_to(EVERYBODY, prepare=_tag),
    "POST /api/v1/places": open_to(PEOPLE, body={"name": "Gate", "latitude": 1, "longitude": 2}),
    "GET /api/v1/places/nearby": open_to(PEOPLE, params={"lat": "1", "lon": "2"}),
    "GET /api/v1/places/{place_id}": open_to(EVERYBODY, prepare=_place),
    "GET /api/v1/places/{place_id}/posts": open_to(EVERYBODY, prepare=_place),
}
