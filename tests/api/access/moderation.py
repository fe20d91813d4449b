"""Moderation: for everybody else these addresses do not exist."""

from typing import Any

from tests.api.access.access_rule import MODERATORS, AccessRule, ByKind, access
from tests.api.access.scenario import Actor, Kind, Scenario, ok


def _about(scenario: Scenario, kind: Kind) -> dict[str, Any]:
    return {"kind": "account", "object_id": scenario.targets[kind].owner.account_id, "reason": "gate"}


def _about_post(scenario: Scenario, kind: Kind) -> dict[str, Any]:
    return {"kind": "post", "object_id": scenario.targets[kind].post_id, "reason": "gate"}


async def open_case(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """The case of an author's account."""
    moderator = scenario.people["moderator"]
    made = await ok(moderator.call("POST", "/moderation/cases", json=_about(scenario, kind)))
    return {"case_id": made["case_id"]}


def for_moderators(**options: Any) -> AccessRule:
    """An access rule that only moderators find."""
    return access(MODERATORS, hides=True, shows_all=True, **options)


FOUND: ByKind = {"public": MODERATORS, "private": MODERATORS | {"moderator": 404}}
"""A moderator comes across what everybody sees; what a private author's friends report has a case already."""
CASES = "/api/v1/moderation/cases"
NOTE = {"action": "note", "reason": "gate"}

ACCESS_RULES: dict[str, AccessRule] = {
    f"GET {CASES}": for_moderators(),
    f"POST {CASES}": for_moderators(body=_about),
    f"POST {CASES} (of a post)": access(FOUND, hides=True, shows_all=True, body=_about_post),
    f"POST {CASES} (of something that cannot be read)": access(
        MODERATORS | {"moderator": 400}, hides=True, body={}
    ),
    f"GET {CASES}/{{case_id}}": for_moderators(prepare=open_case),
    f"PUT {CASES}/{{case_id}}/claim": for_moderators(prepare=open_case, body={}),
    f"DELETE {CASES}/{{case_id}}/claim": for_moderators(prepare=open_case),
    f"POST {CASES}/{{case_id}}/acts": for_moderators(prepare=open_case, body=NOTE),
    "GET /api/v1/moderation/log": for_moderators(),
}
