"""The site itself: health, documents, the app's page and files."""

from tests.api.gates.gate import EVERYBODY, Gate, anybody, open_to

GATES: dict[str, Gate] = {
    "GET /healthz": open_to(EVERYBODY, scope=False),
    "GET /readyz": open_to(EVERYBODY, scope=False),
    "GET /metrics": open_to(EVERYBODY, scope=False),
    "GET /api/docs": open_to(EVERYBODY, scope=False),
    "GET /api/docs.css": open_to(EVERYBODY, scope=False),
    "GET /api": open_to(EVERYBODY, scope=False),
    "GET /api/{path}": open_to(anybody(404), scope=False),
    "GET /api/openapi.json": open_to(EVERYBODY, scope=False),
    "GET /": open_to(EVERYBODY, scope=False),
    "GET /{path}": open_to(EVERYBODY, scope=False),
}
