"""Reports: of what one sees, and not of one's own; decisions are for whom they concern."""

from typing import Any

from tests.api.gates.gate import OWN, PEOPLE, TOUCH, ByKind, Gate, open_to
from tests.api.gates.moderation import open_case
from tests.api.gates.world import Actor, Kind, World, ok

OTHERS: ByKind = {kind: answers | {"owner": 400} for kind, answers in TOUCH.items()}


def _report(world: World, kind: Kind) -> dict[str, Any]:
    return {"kind": "post", "object_id": world.targets[kind].post_id, "reason": "spam"}


async def _decided(world: World, kind: Kind, actor: Actor) -> dict[str, Any]:
    """A case about the author in which a moderator gave a warning."""
    case = await open_case(world, kind, actor)
    path = f"/moderation/cases/{case['case_id']}/acts"
    act = {"action": "warn", "reason": "gate"}
    await ok(world.people["moderator"].call("POST", path, json=act))
    return case | {"json": {"text": "Look again."}}


GATES: dict[str, Gate] = {
    "POST /api/v1/reports": open_to(OTHERS, body=_report, hides=True),
    "GET /api/v1/decisions": open_to(PEOPLE),
    "POST /api/v1/decisions/{case_id}/appeal": open_to(OWN, prepare=_decided, hides=True),
}
