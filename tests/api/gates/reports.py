"""Reports: of what one sees, and not of one's own; decisions are for whom they concern."""

from functools import partial
from typing import Any

from tests.api.gates.gate import OWN, PEOPLE, TOUCH, ByKind, Gate, open_to
from tests.api.gates.graph import TOWARDS
from tests.api.gates.moderation import open_case
from tests.api.gates.world import Actor, Kind, World, ok

OTHERS: ByKind = {kind: answers | {"owner": 400} for kind, answers in TOUCH.items()}


def _report(what: str, world: World, kind: Kind) -> dict[str, Any]:
    target = world.targets[kind]
    ids = {"post": target.post_id, "comment": target.comment_id, "account": target.owner.account_id}
    return {"kind": what, "object_id": ids[what], "reason": "spam"}


async def _decided(world: World, kind: Kind, actor: Actor) -> dict[str, Any]:
    """A case about the author in which a moderator gave a warning."""
    case = await open_case(world, kind, actor)
    path = f"/moderation/cases/{case['case_id']}/acts"
    act = {"action": "warn", "reason": "gate"}
    await ok(world.people["moderator"].call("POST", path, json=act))
    return case | {"json": {"text": "Look again."}}


GATES: dict[str, Gate] = {
    "POST /api/v1/reports": open_to(OTHERS, body=partial(_report, "post"), hides=True),
    "POST /api/v1/reports (of a comment)": open_to(OTHERS, body=partial(_report, "comment"), hides=True),
    "POST /api/v1/reports (of an account)": open_to(TOWARDS, body=partial(_report, "account"), hides=True),
    "GET /api/v1/decisions": open_to(PEOPLE),
    "POST /api/v1/decisions/{case_id}/appeal": open_to(OWN, prepare=_decided, hides=True),
}
