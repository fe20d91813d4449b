"""What was seen, explore and experiments."""

from typing import Any

from tests.api.access.access_rule import EVERYBODY, PEOPLE, TOUCH, AccessRule, access
from tests.api.access.scenario import Kind, Scenario


def _seen(scenario: Scenario, kind: Kind) -> dict[str, Any]:
    """Telling of a post that one may not see is not refused: that would tell of it. It does not count either."""
    return {"impressions": [{"post_id": scenario.targets[kind].post_id, "ms": 1200}]}


ACCESS_RULES: dict[str, AccessRule] = {
    "POST /api/v1/feed/seen": access(PEOPLE, body=_seen),
    "GET /api/v1/posts/{post_id}/explanation": access(TOUCH, hides=True),
    "GET /api/v1/explore": access(EVERYBODY),
    "GET /api/v1/accounts/me/experiments": access(PEOPLE),
}
