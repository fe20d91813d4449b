"""Profiles: a private author's card is there for everybody, without the posts."""

from tests.api.gates.gate import CARD, EVERYBODY, PEOPLE, POST, Gate, open_to
from tests.api.gates.people import friend

GATES: dict[str, Gate] = {
    "GET /api/v1/profiles/{username}": open_to(CARD, hides=True, shows=POST),
    "GET /api/v1/accounts/{account_id}/posts": open_to(CARD, hides=True, shows=POST),
    "GET /api/v1/accounts/{account_id}/tagged (of a friend who is in the post)": open_to(
        EVERYBODY, prepare=friend, shows=POST
    ),
    "GET /api/v1/accounts/{account_id}/tagged": open_to(CARD, hides=True),
    "GET /api/v1/accounts/me/likes": open_to(PEOPLE),
    "GET /api/v1/accounts/me/archive": open_to(PEOPLE),
}
