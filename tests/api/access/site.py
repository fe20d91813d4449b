"""The site itself: health, documents, the app's page and files."""

from tests.api.access.access_rule import EVERYBODY, AccessRule, access, anybody

ACCESS_RULES: dict[str, AccessRule] = {
    "GET /healthz": access(EVERYBODY, scope=False),
    "GET /readyz": access(EVERYBODY, scope=False),
    "GET /.well-known/security.txt": access(EVERYBODY, scope=False),
    "GET /api/docs": access(EVERYBODY, scope=False),
    "GET /api/docs.css": access(EVERYBODY, scope=False),
    "GET /api": access(EVERYBODY, scope=False),
    "GET /api/{path}": access(anybody(404), scope=False),
    "GET /api/openapi.json": access(EVERYBODY, scope=False),
    "GET /": access(EVERYBODY, scope=False),
    "GET /{path}": access(anybody(404), scope=False),
}
