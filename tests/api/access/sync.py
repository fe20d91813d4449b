"""The update log: everybody reads their own."""

from tests.api.access.access_rule import PEOPLE, AccessRule, access

ACCESS_RULES: dict[str, AccessRule] = {"GET /api/v1/sync": access(PEOPLE)}
