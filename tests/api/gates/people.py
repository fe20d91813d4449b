"""Lists of people: an author's are seen by those who see the posts, one's own by oneself."""

from tests.api.gates.gate import PEOPLE, TOUCH, Gate, open_to

GATES: dict[str, Gate] = {
    "GET /api/v1/accounts/{account_id}/followers": open_to(TOUCH, hides=True),
    "GET /api/v1/accounts/{account_id}/following": open_to(TOUCH, hides=True),
    "GET /api/v1/accounts/{account_id}/mutuals": open_to(TOUCH, hides=True),
    "GET /api/v1/follow-requests": open_to(PEOPLE),
    "GET /api/v1/follow-requests/sent": open_to(PEOPLE),
    "GET /api/v1/blocks": open_to(PEOPLE),
    "GET /api/v1/mutes": open_to(PEOPLE),
    "GET /api/v1/close-friends": open_to(PEOPLE),
    "GET /api/v1/restrictions": open_to(PEOPLE),
    "GET /api/v1/suggestions": open_to(PEOPLE),
}
