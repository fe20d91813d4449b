"""The demo: people may ask about it; nobody may begin it where others have joined."""

from tests.api.gates.gate import PEOPLE, Gate, nobody, open_to

GATES: dict[str, Gate] = {
    "GET /api/v1/demo": open_to(PEOPLE),
    "POST /api/v1/demo": open_to(nobody(409)),
}
