"""Posts, likes and the feed."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.api.access.access_rule import (
    CONTENT,
    EVERYBODY,
    NOT_YOURS,
    OWN,
    PEOPLE,
    PERSON,
    POST,
    TOUCH,
    AccessRule,
    Shown,
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


async def _picture_later(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    """A picture of the caller's own to post next month."""
    options = await _picture(scenario, kind, actor)
    return {"json": {**options["json"], "publish_at": _next_month()}}


async def _scheduled(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A scheduled post of the author's."""
    target = scenario.targets[kind]
    if "scheduled_id" not in target.ids:
        media_id = (await target.owner.upload(photo(64, 64))).json()["media_id"]
        body = {"media_ids": [media_id], "publish_at": _next_month()}
        made = await target.owner.call("POST", "/scheduled-posts", json=body)
        target.ids["scheduled_id"] = made.json()["scheduled_id"]
    return {"scheduled_id": target.ids["scheduled_id"]}


async def _scheduled_once(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    """A scheduled post that the author may lose."""
    found = await _scheduled(scenario, kind, actor)
    if actor == "owner":
        del scenario.targets[kind].ids["scheduled_id"]
    return found


def _next_month() -> str:
    return (datetime.now(UTC) + timedelta(days=30)).isoformat()


ONE = "/api/v1/posts/{post_id}"
LATER = "/api/v1/scheduled-posts"
SCHEDULED: Shown = dict.fromkeys(CONTENT, "scheduled_id")

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
    f"POST {LATER}": access(PEOPLE, prepare=_picture_later),
    f"GET {LATER}": access(PEOPLE, prepare=_scheduled),
    f"GET {LATER}/{{scheduled_id}}": access(OWN, prepare=_scheduled, hides=True, shows=SCHEDULED),
    f"PATCH {LATER}/{{scheduled_id}}": access(
        OWN, prepare=_scheduled, body={"hides_like_count": False}, hides=True
    ),
    f"POST {LATER}/{{scheduled_id}}/publish": access(OWN, prepare=_scheduled_once, hides=True),
    f"DELETE {LATER}/{{scheduled_id}}": access(OWN, prepare=_scheduled_once, hides=True),
    "GET /api/v1/feed": access(PEOPLE),
}
