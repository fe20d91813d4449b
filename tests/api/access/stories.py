"""Stories and highlights: for whom the author's content is; what is done to them is the author's own."""

from typing import Any

from tests.api.access.access_rule import CARD, CONTENT, OWN, PEOPLE, TOUCH, AccessRule, ByKind, Shown, access
from tests.api.access.scenario import UNKNOWN_ID, Actor, Kind, Scenario, ok, show_story
from tests.support import photo

STORY: Shown = dict.fromkeys(CONTENT, "story_id")
HIGHLIGHT: Shown = dict.fromkeys(CONTENT, "highlight_id")
TO_ANOTHER: ByKind = {kind: answers | {"owner": 403} for kind, answers in TOUCH.items()}
"""Nobody answers themselves."""


async def _picture(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    """A picture of the caller's own to show."""
    person = scenario.person(actor, kind)
    if person is None:
        return {"json": {"media_id": UNKNOWN_ID}}
    sent = {"file": ("photo.jpg", photo(64, 64), "image/jpeg")}
    made = await ok(person.call("POST", "/media/upload", files=sent, data={"kind": "story"}))
    return {"json": {"media_id": made["media_id"]}}


async def _fresh_story(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    """A story that the author may lose."""
    return {"story_id": await show_story(scenario.targets[kind].owner)} if actor == "owner" else {}


async def _fresh_highlight(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    """A highlight that the author may lose."""
    if actor != "owner":
        return {}
    target = scenario.targets[kind]
    body = {"title": "Fresh", "story_ids": [target.ids["story_id"]]}
    made = await ok(target.owner.call("POST", "/highlights", json=body))
    return {"highlight_id": made["highlight_id"]}


def _story_ids(scenario: Scenario, kind: Kind) -> dict[str, Any]:
    return {"story_ids": [scenario.targets[kind].ids["story_id"]]}


def _new_highlight(scenario: Scenario, kind: Kind) -> dict[str, Any]:
    return {"title": "Gate", **_story_ids(scenario, kind)}


ONE, KEPT = "/api/v1/stories/{story_id}", "/api/v1/highlights/{highlight_id}"

ACCESS_RULES: dict[str, AccessRule] = {
    "POST /api/v1/stories": access(PEOPLE, prepare=_picture),
    "GET /api/v1/stories/feed": access(PEOPLE),
    "GET /api/v1/accounts/{account_id}/stories": access(CARD, hides=True, shows=STORY),
    f"GET {ONE}": access(CONTENT, hides=True, shows=STORY),
    f"DELETE {ONE}": access(OWN, prepare=_fresh_story, hides=True),
    "PUT /api/v1/stories/seen": access(PEOPLE, body=_story_ids),
    f"PUT {ONE}/seen": access(TOUCH, hides=True),
    f"GET {ONE}/viewers": access(OWN, hides=True),
    f"PUT {ONE}/reaction": access(TO_ANOTHER, body={"reaction": "🔥"}, hides=True),
    f"DELETE {ONE}/reaction": access(TO_ANOTHER, hides=True),
    f"POST {ONE}/replies": access(TO_ANOTHER, body={"text": "hm"}, hides=True),
    f"PUT {ONE}/vote": access(TO_ANOTHER, body={"choice": 1}, hides=True),
    f"PUT {ONE}/answer": access(TO_ANOTHER, body={"text": "hm"}, hides=True),
    f"DELETE {ONE}/answer": access(TO_ANOTHER, hides=True),
    f"GET {ONE}/answers": access(OWN, hides=True),
    f"PUT {ONE}/reminder": access(TO_ANOTHER, hides=True),
    f"DELETE {ONE}/reminder": access(TOUCH, hides=True),
    "POST /api/v1/highlights": access(OWN, body=_new_highlight),
    "GET /api/v1/highlights": access(PEOPLE),
    "PUT /api/v1/highlights/order": access(PEOPLE, body={"highlight_ids": []}),
    "GET /api/v1/accounts/{account_id}/highlights": access(CARD, hides=True, shows=HIGHLIGHT),
    f"GET {KEPT}": access(CONTENT, hides=True, shows=HIGHLIGHT),
    f"PATCH {KEPT}": access(OWN, body={"title": "Gate"}, hides=True),
    f"DELETE {KEPT}": access(OWN, prepare=_fresh_highlight, hides=True),
}
