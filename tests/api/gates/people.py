"""Lists of people: an author's are seen by those who see the posts, one's own by oneself."""

from typing import Any

from tests.api.gates.gate import PEOPLE, PERSON, TOUCH, Gate, open_to
from tests.api.gates.world import Actor, Kind, World


async def friend(world: World, _kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A friend of the author's, whom everybody may see."""
    return {"account_id": world.people["follower"].account_id}


GATES: dict[str, Gate] = {
    "GET /api/v1/accounts/{account_id}/followers": open_to(TOUCH, hides=True),
    "GET /api/v1/accounts/{account_id}/following": open_to(TOUCH, hides=True),
    "GET /api/v1/accounts/{account_id}/following (of a friend who follows the author)": open_to(
        PEOPLE, prepare=friend, shows=PERSON
    ),
    "GET /api/v1/accounts/{account_id}/mutuals": open_to(TOUCH, hides=True),
    "GET /api/v1/follow-requests": open_to(PEOPLE),
    "GET /api/v1/follow-requests/sent": open_to(PEOPLE),
    "GET /api/v1/blocks": open_to(PEOPLE),
    "GET /api/v1/mutes": open_to(PEOPLE),
    "GET /api/v1/close-friends": open_to(PEOPLE),
    "GET /api/v1/restrictions": open_to(PEOPLE),
    "GET /api/v1/suggestions": open_to(PEOPLE),
}
