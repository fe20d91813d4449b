"""Comments."""

import secrets
from typing import Any

from tests.api.access.access_rule import (
    CARD,
    COMMENT,
    CONTENT,
    EVERYBODY,
    NOT_YOURS,
    OWN,
    PEOPLE,
    PERSON,
    TOUCH,
    AccessRule,
    access,
)
from tests.api.access.posts import elsewhere
from tests.api.access.scenario import Actor, Kind, Scenario, ok


async def _words(_world: Scenario, _kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"json": {"text": f"words {secrets.token_hex(4)}"}}


async def _fresh(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A comment of the author's that this call may destroy."""
    target = scenario.targets[kind]
    made = await ok(
        target.owner.call("POST", f"/posts/{target.post_id}/comments", json={"text": secrets.token_hex(8)})
    )
    return {"comment_id": made["comment_id"]}


async def _guest(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"comment_id": scenario.targets[kind].ids["guest_comment_id"]}


ACCESS_RULES: dict[str, AccessRule] = {
    "GET /api/v1/posts/{post_id}/comments": access(CONTENT, hides=True, shows=COMMENT),
    "GET /api/v1/posts/{post_id}/comments (the author's under a friend's post)": access(
        EVERYBODY, prepare=elsewhere, shows=dict.fromkeys(CONTENT, "guest_comment_id")
    ),
    "POST /api/v1/posts/{post_id}/comments": access(TOUCH, prepare=_words, hides=True),
    "GET /api/v1/posts/{post_id}/comments/kept-back": access(OWN, hides=True),
    "GET /api/v1/comments/{comment_id}": access(CONTENT, hides=True, shows=COMMENT),
    "GET /api/v1/comments/{comment_id} (the author's under a friend's post)": access(
        CARD, prepare=_guest, hides=True, shows=PERSON
    ),
    "DELETE /api/v1/comments/{comment_id}": access(NOT_YOURS, prepare=_fresh, hides=True),
    "GET /api/v1/comments/{comment_id}/replies": access(CONTENT, hides=True),
    "PUT /api/v1/comments/{comment_id}/like": access(TOUCH, hides=True),
    "DELETE /api/v1/comments/{comment_id}/like": access(TOUCH, hides=True),
    "GET /api/v1/comments/{comment_id}/likes": access(CONTENT, hides=True),
    "PUT /api/v1/comments/{comment_id}/pin": access(NOT_YOURS, hides=True),
    "DELETE /api/v1/comments/{comment_id}/pin": access(NOT_YOURS, hides=True),
    "PUT /api/v1/comments/{comment_id}/approval": access(OWN, hides=True),
    "GET /api/v1/accounts/me/comment-filters": access(PEOPLE),
    "PUT /api/v1/accounts/me/comment-filters": access(PEOPLE, body={"words": []}),
}
