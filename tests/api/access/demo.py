"""The demo: people may ask about it; nobody may begin it where others have joined."""

from tests.api.access.access_rule import PEOPLE, AccessRule, access, nobody

ACCESS_RULES: dict[str, AccessRule] = {
    "GET /api/v1/demo": access(PEOPLE),
    "POST /api/v1/demo": access(nobody(409)),
}
