"""Lists of people: an author's are seen by those who see the posts, one's own by oneself."""

from typing import Any

from tests.api.access.access_rule import PEOPLE, PERSON, TOUCH, AccessRule, access
from tests.api.access.scenario import Actor, Kind, Scenario


async def friend(scenario: Scenario, _kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A friend of the author's, whom everybody may see."""
    return {"account_id": scenario.people["follower"].account_id}


ACCESS_RULES: dict[str, AccessRule] = {
    "GET /api/v1/accounts/{account_id}/followers": access(TOUCH, hides=True),
    "GET /api/v1/accounts/{account_id}/following": access(TOUCH, hides=True),
    "GET /api/v1/accounts/{account_id}/following (of a friend who follows the author)": access(
        PEOPLE, prepare=friend, shows=PERSON
    ),
    "GET /api/v1/accounts/{account_id}/mutuals": access(TOUCH, hides=True),
    "GET /api/v1/follow-requests": access(PEOPLE),
    "GET /api/v1/follow-requests/sent": access(PEOPLE),
    "GET /api/v1/blocks": access(PEOPLE),
    "GET /api/v1/mutes": access(PEOPLE),
    "GET /api/v1/close-friends": access(PEOPLE),
    "GET /api/v1/restrictions": access(PEOPLE),
    "GET /api/v1/suggestions": access(PEOPLE),
}
