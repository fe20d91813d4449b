"""What was seen, explore and experiments."""

from typing import Any

from tests.api.gates.gate import EVERYBODY, PEOPLE, TOUCH, Gate, open_to
from tests.api.gates.world import Kind, World


def _seen(world: World, kind: Kind) -> dict[str, Any]:
    """Telling of a post that one may not see is not refused: that would tell of it. It does not count either."""
    return {"impressions": [{"post_id": world.targets[kind].post_id, "ms": 1200}]}


GATES: dict[str, Gate] = {
    "POST /api/v1/feed/seen": open_to(PEOPLE, body=_seen),
    "GET /api/v1/posts/{post_id}/explanation": open_to(TOUCH, hides=True),
    "GET /api/v1/explore": open_to(EVERYBODY),
    "GET /api/v1/accounts/me/experiments": open_to(PEOPLE),
}
