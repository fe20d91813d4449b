"""Comments."""

import secrets
from typing import Any

from tests.api.gates.gate import (
    CARD,
    COMMENT,
    CONTENT,
    EVERYBODY,
    NOT_YOURS,
    OWN,
    PEOPLE,
    PERSON,
    TOUCH,
    Gate,
    open_to,
)
from tests.api.gates.posts import elsewhere
from tests.api.gates.world import Actor, Kind, World, ok


async def _words(_world: World, _kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"json": {"text": f"words {secrets.token_hex(4)}"}}


async def _fresh(world: World, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A comment of the author's that this call may destroy."""
    target = world.targets[kind]
    made = await ok(
        target.owner.call("POST", f"/posts/{target.post_id}/comments", json={"text": secrets.token_hex(8)})
    )
    return {"comment_id": made["comment_id"]}


async def _guest(world: World, kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"comment_id": world.targets[kind].ids["guest_comment_id"]}


GATES: dict[str, Gate] = {
    "GET /api/v1/posts/{post_id}/comments": open_to(CONTENT, hides=True, shows=COMMENT),
    "GET /api/v1/posts/{post_id}/comments (the author's under a friend's post)": open_to(
        EVERYBODY, prepare=elsewhere, shows=dict.fromkeys(CONTENT, "guest_comment_id")
    ),
    "POST /api/v1/posts/{post_id}/comments": open_to(TOUCH, prepare=_words, hides=True),
    "GET /api/v1/posts/{post_id}/comments/kept-back": open_to(OWN, hides=True),
    "GET /api/v1/comments/{comment_id}": open_to(CONTENT, hides=True, shows=COMMENT),
    "GET /api/v1/comments/{comment_id} (the author's under a friend's post)": open_to(
        CARD, prepare=_guest, hides=True, shows=PERSON
    ),
    "DELETE /api/v1/comments/{comment_id}": open_to(NOT_YOURS, prepare=_fresh, hides=True),
    "GET /api/v1/comments/{comment_id}/replies": open_to(CONTENT, hides=True),
    "PUT /api/v1/comments/{comment_id}/like": open_to(TOUCH, hides=True),
    "DELETE /api/v1/comments/{comment_id}/like": open_to(TOUCH, hides=True),
    "GET /api/v1/comments/{comment_id}/likes": open_to(CONTENT, hides=True),
    "PUT /api/v1/comments/{comment_id}/pin": open_to(NOT_YOURS, hides=True),
    "DELETE /api/v1/comments/{comment_id}/pin": open_to(NOT_YOURS, hides=True),
    "PUT /api/v1/comments/{comment_id}/approval": open_to(OWN, hides=True),
    "GET /api/v1/accounts/me/comment-filters": open_to(PEOPLE),
    "PUT /api/v1/accounts/me/comment-filters": open_to(PEOPLE, body={"words": []}),
}
