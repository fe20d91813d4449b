"""Posts, likes and the feed."""

from typing import Any

from tests.api.gates.gate import CONTENT, NOT_YOURS, PEOPLE, TOUCH, Gate, open_to
from tests.api.gates.world import NEVER_MADE, Actor, Kind, World
from tests.support import photo


async def _picture(world: World, kind: Kind, actor: Actor) -> dict[str, Any]:
    """A picture of the caller's own to post."""
    person = world.person(actor, kind)
    media_id = (await person.upload(photo(64, 64))).json()["media_id"] if person else NEVER_MADE
    return {"json": {"media_ids": [media_id]}}


async def _fresh(world: World, kind: Kind, actor: Actor) -> dict[str, Any]:
    """A post that the author may lose; the refused knock at the one there is, for 25 a day is all one may post."""
    if actor != "owner":
        return {}
    return {"post_id": (await world.targets[kind].owner.publish())["post_id"]}


POST = "/api/v1/posts/{post_id}"

GATES: dict[str, Gate] = {
    "POST /api/v1/posts": open_to(PEOPLE, prepare=_picture),
    f"GET {POST}": open_to(CONTENT, hides=True),
    f"PATCH {POST}": open_to(NOT_YOURS, body={"caption": "changed"}, hides=True),
    f"DELETE {POST}": open_to(NOT_YOURS, prepare=_fresh, hides=True),
    f"PUT {POST}/archive": open_to(NOT_YOURS, prepare=_fresh, hides=True),
    f"DELETE {POST}/archive": open_to(NOT_YOURS, hides=True),
    f"PUT {POST}/pin": open_to(NOT_YOURS, hides=True),
    f"DELETE {POST}/pin": open_to(NOT_YOURS, hides=True),
    f"DELETE {POST}/tags/me": open_to(TOUCH, hides=True),
    f"PUT {POST}/like": open_to(TOUCH, hides=True),
    f"DELETE {POST}/like": open_to(TOUCH, hides=True),
    f"GET {POST}/likes": open_to(CONTENT, hides=True),
    "GET /api/v1/feed": open_to(PEOPLE),
}
