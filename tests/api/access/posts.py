"""Posts, likes and the feed."""

from typing import Any

from tests.api.access.access_rule import (
    CONTENT,
    EVERYBODY,
    NOT_YOURS,
    PEOPLE,
    PERSON,
    POST,
    TOUCH,
    AccessRule,
    access,
)
from tests.api.access.graph import stand_in
from tests.api.access.scenario import UNKNOWN_ID, Actor, Kind, Scenario
from tests.support import photo


async def _picture(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    """A picture of the caller's own to post."""
    person = scenario.person(actor, kind)
    media_id = (await person.upload(photo(64, 64))).json()["media_id"] if person else UNKNOWN_ID
    return {"json": {"media_ids": [media_id]}}


async def _fresh(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    """A post that the author may lose; the refused knock at the one there is, for 25 a day is all one may post."""
    if actor != "owner":
        return {}
    return {"post_id": (await scenario.targets[kind].owner.publish())["post_id"]}


async def elsewhere(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A friend's post, which everybody may see."""
    return {"post_id": scenario.targets[kind].ids["elsewhere_id"]}


ONE = "/api/v1/posts/{post_id}"

ACCESS_RULES: dict[str, AccessRule] = {
    "POST /api/v1/posts": access(PEOPLE, prepare=_picture),
    f"GET {ONE}": access(CONTENT, hides=True, shows=POST),
    f"PATCH {ONE}": access(NOT_YOURS, body={"hides_like_count": False}, hides=True),
    f"DELETE {ONE}": access(NOT_YOURS, prepare=_fresh, hides=True),
    f"PUT {ONE}/archive": access(NOT_YOURS, prepare=_fresh, hides=True),
    f"DELETE {ONE}/archive": access(NOT_YOURS, hides=True),
    f"PUT {ONE}/pin": access(NOT_YOURS, hides=True),
    f"DELETE {ONE}/pin": access(NOT_YOURS, hides=True),
    f"DELETE {ONE}/tags/me": access(TOUCH, prepare=stand_in, hides=True),
    f"PUT {ONE}/like": access(TOUCH, hides=True),
    f"DELETE {ONE}/like": access(TOUCH, hides=True),
    f"GET {ONE}/likes": access(CONTENT, hides=True),
    f"GET {ONE}/likes (of the author's under a friend's post)": access(
        EVERYBODY, prepare=elsewhere, shows=PERSON
    ),
    "GET /api/v1/feed": access(PEOPLE),
}
