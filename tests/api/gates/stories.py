"""Stories and highlights: for whom the author's content is; what is done to them is the author's own."""

from typing import Any

from tests.api.gates.gate import CARD, CONTENT, OWN, PEOPLE, TOUCH, ByKind, Gate, Shown, open_to
from tests.api.gates.world import NEVER_MADE, Actor, Kind, World, ok, show_story
from tests.support import photo

STORY: Shown = dict.fromkeys(CONTENT, "story_id")
HIGHLIGHT: Shown = dict.fromkeys(CONTENT, "highlight_id")
TO_ANOTHER: ByKind = {kind: answers | {"owner": 403} for kind, answers in TOUCH.items()}
"""Nobody answers themselves."""


async def _picture(world: World, kind: Kind, actor: Actor) -> dict[str, Any]:
    """A picture of the caller's own to show."""
    person = world.person(actor, kind)
    if person is None:
        return {"json": {"media_id": NEVER_MADE}}
    sent = {"file": ("photo.jpg", photo(64, 64), "image/jpeg")}
    made = await ok(person.call("POST", "/media/upload", files=sent, data={"kind": "story"}))
    return {"json": {"media_id": made["media_id"]}}


async def _fresh_story(world: World, kind: Kind, actor: Actor) -> dict[str, Any]:
    """A story that the author may lose."""
    return {"story_id": await show_story(world.targets[kind].owner)} if actor == "owner" else {}


async def _fresh_highlight(world: World, kind: Kind, actor: Actor) -> dict[str, Any]:
    """A highlight that the author may lose."""
    if actor != "owner":
        return {}
    target = world.targets[kind]
    body = {"title": "Fresh", "story_ids": [target.ids["story_id"]]}
    made = await ok(target.owner.call("POST", "/highlights", json=body))
    return {"highlight_id": made["highlight_id"]}


def _story_ids(world: World, kind: Kind) -> dict[str, Any]:
    return {"story_ids": [world.targets[kind].ids["story_id"]]}


def _new_highlight(world: World, kind: Kind) -> dict[str, Any]:
    return {"title": "Gate", **_story_ids(world, kind)}


ONE, KEPT = "/api/v1/stories/{story_id}", "/api/v1/highlights/{highlight_id}"

GATES: dict[str, Gate] = {
    "POST /api/v1/stories": open_to(PEOPLE, prepare=_picture),
    "GET /api/v1/stories/feed": open_to(PEOPLE),
    "GET /api/v1/accounts/{account_id}/stories": open_to(CARD, hides=True, shows=STORY),
    f"GET {ONE}": open_to(CONTENT, hides=True, shows=STORY),
    f"DELETE {ONE}": open_to(OWN, prepare=_fresh_story, hides=True),
    "PUT /api/v1/stories/seen": open_to(PEOPLE, body=_story_ids),
    f"PUT {ONE}/seen": open_to(TOUCH, hides=True),
    f"GET {ONE}/viewers": open_to(OWN, hides=True),
    f"PUT {ONE}/reaction": open_to(TO_ANOTHER, body={"reaction": "🔥"}, hides=True),
    f"DELETE {ONE}/reaction": open_to(TO_ANOTHER, hides=True),
    f"POST {ONE}/replies": open_to(TO_ANOTHER, body={"text": "hm"}, hides=True),
    "POST /api/v1/highlights": open_to(OWN, body=_new_highlight),
    "GET /api/v1/highlights": open_to(PEOPLE),
    "PUT /api/v1/highlights/order": open_to(PEOPLE, body={"highlight_ids": []}),
    "GET /api/v1/accounts/{account_id}/highlights": open_to(CARD, hides=True, shows=HIGHLIGHT),
    f"GET {KEPT}": open_to(CONTENT, hides=True, shows=HIGHLIGHT),
    f"PATCH {KEPT}": open_to(OWN, body={"title": "Gate"}, hides=True),
    f"DELETE {KEPT}": open_to(OWN, prepare=_fresh_highlight, hides=True),
}
