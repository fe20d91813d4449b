"""Profiles: a private author's card is there for everybody, without the posts."""

from tests.api.access.access_rule import CARD, EVERYBODY, PEOPLE, POST, AccessRule, access
from tests.api.access.people import friend

ACCESS_RULES: dict[str, AccessRule] = {
    "GET /api/v1/profiles/{username}": access(CARD, hides=True, shows=POST),
    "GET /api/v1/accounts/{account_id}/posts": access(CARD, hides=True, shows=POST),
    "GET /api/v1/accounts/{account_id}/tagged (of a friend who is in the post)": access(
        EVERYBODY, prepare=friend, shows=POST
    ),
    "GET /api/v1/accounts/{account_id}/tagged": access(CARD, hides=True),
    "GET /api/v1/accounts/me/likes": access(PEOPLE),
    "GET /api/v1/accounts/me/archive": access(PEOPLE),
}
