"""Posts, likes and the feed."""

from typing import Any

from tests.api.gates.gate import CONTENT, EVERYBODY, NOT_YOURS, PEOPLE, PERSON, POST, TOUCH, Gate, open_to
from tests.api.gates.graph import stand_in
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


async def elsewhere(world: World, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A friend's post, which everybody may see."""
    return {"post_id": world.targets[kind].ids["elsewhere_id"]}


ONE = "/api/v1/posts/{post_id}"

GATES: dict[str, Gate] = {
    "POST /api/v1/posts": open_to(PEOPLE, prepare=_picture),
    f"GET {ONE}": open_to(CONTENT, hides=True, shows=POST),
    f"PATCH {ONE}": open_to(NOT_YOURS, body={"hides_like_count": False}, hides=True),
    f"DELETE {ONE}": open_to(NOT_YOURS, prepare=_fresh, hides=True),
    f"PUT {ONE}/archive": open_to(NOT_YOURS, prepare=_fresh, hides=True),
    f"DELETE {ONE}/archive": open_to(NOT_YOURS, hides=True),
    f"PUT {ONE}/pin": open_to(NOT_YOURS, hides=True),
    f"DELETE {ONE}/pin": open_to(NOT_YOURS, hides=True),
    f"DELETE {ONE}/tags/me": open_to(TOUCH, prepare=stand_in, hides=True),
    f"PUT {ONE}/like": open_to(TOUCH, hides=True),
    f"DELETE {ONE}/like": open_to(TOUCH, hides=True),
    f"GET {ONE}/likes": open_to(CONTENT, hides=True),
    f"GET {ONE}/likes (of the author's under a friend's post)": open_to(
        EVERYBODY, prepare=elsewhere, shows=PERSON
    ),
    "GET /api/v1/feed": open_to(PEOPLE),
}
