"""Reports: of what one sees, and not of one's own; decisions are for whom they concern."""

from functools import partial
from typing import Any

from tests.api.access.access_rule import OWN, PEOPLE, TOUCH, AccessRule, ByKind, access
from tests.api.access.graph import TOWARDS
from tests.api.access.moderation import open_case
from tests.api.access.scenario import Actor, Kind, Scenario, ok

OTHERS: ByKind = {kind: answers | {"owner": 400} for kind, answers in TOUCH.items()}


def _report(what: str, scenario: Scenario, kind: Kind) -> dict[str, Any]:
    target = scenario.targets[kind]
    ids = {"post": target.post_id, "comment": target.comment_id, "account": target.owner.account_id}
    return {"kind": what, "object_id": ids[what], "reason": "spam"}


async def _decided(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    """A case about the author in which a moderator gave a warning."""
    case = await open_case(scenario, kind, actor)
    path = f"/moderation/cases/{case['case_id']}/acts"
    act = {"action": "warn", "reason": "gate"}
    await ok(scenario.people["moderator"].call("POST", path, json=act))
    return case | {"json": {"text": "Look again."}}


ACCESS_RULES: dict[str, AccessRule] = {
    "POST /api/v1/reports": access(OTHERS, body=partial(_report, "post"), hides=True),
    "POST /api/v1/reports (of a comment)": access(OTHERS, body=partial(_report, "comment"), hides=True),
    "POST /api/v1/reports (of an account)": access(TOWARDS, body=partial(_report, "account"), hides=True),
    "GET /api/v1/decisions": access(PEOPLE),
    "POST /api/v1/decisions/{case_id}/appeal": access(OWN, prepare=_decided, hides=True),
}
