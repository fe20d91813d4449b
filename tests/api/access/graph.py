"""What one does about others: whoever may know of an author may do it, and letting go is always possible."""

import secrets
from typing import Any

from tests.api.access.access_rule import OWN, PEOPLE, SIGNED_IN_CARD, AccessRule, Answers, access
from tests.api.access.scenario import Actor, Kind, Scenario
from tests.support import join

TOWARDS: Answers = SIGNED_IN_CARD | {"owner": 400}
"""Nobody follows, blocks or mutes themselves."""
BLOCKING: Answers = TOWARDS | {"blocked": "ok"}
"""Whoever is blocked can block back."""
LETTING_GO: Answers = PEOPLE | {"owner": 400}


async def stand_in(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    """The others still need the caller to stand as they do."""
    person = await scenario.stand_in(actor, kind)
    return {"headers": {"Authorization": f"Bearer {person.token}"}} if person else {}


async def _asker(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """Somebody who asks to follow the author, or follows at once where nobody has to ask."""
    asker = await join(scenario.client, f"gate_{secrets.token_hex(6)}")
    await asker.call("PUT", f"/accounts/{scenario.targets[kind].owner.account_id}/follow")
    return {"account_id": asker.account_id}


async def _blocker(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    """A stand-in who names the author."""
    named = {"json": {"username": scenario.targets[kind].owner.username}}
    return await stand_in(scenario, kind, actor) | named


def towards(**options: Any) -> AccessRule:
    """An access rule for what one does about an author."""
    return access(TOWARDS, prepare=stand_in, hides=True, **options)


ACCESS_RULES: dict[str, AccessRule] = {
    "GET /api/v1/accounts/{account_id}/relation": access(SIGNED_IN_CARD, hides=True),
    "PUT /api/v1/accounts/{account_id}/follow": towards(),
    "DELETE /api/v1/accounts/{account_id}/follow": access(PEOPLE, prepare=stand_in, is_blind=True),
    "DELETE /api/v1/followers/{account_id}": access(PEOPLE, prepare=stand_in, is_blind=True),
    "PUT /api/v1/follow-requests/{account_id}": access(OWN, prepare=_asker, hides=True),
    "DELETE /api/v1/follow-requests/{account_id}": access(PEOPLE, prepare=_asker, is_blind=True),
    "PUT /api/v1/blocks/{account_id}": access(BLOCKING, prepare=stand_in),
    "POST /api/v1/blocks": access(BLOCKING, prepare=_blocker),
    "DELETE /api/v1/blocks/{account_id}": access(PEOPLE, prepare=stand_in, is_blind=True),
    "PUT /api/v1/mutes/{account_id}": towards(body={"posts": True}),
    "DELETE /api/v1/mutes/{account_id}": access(LETTING_GO, prepare=stand_in, is_blind=True),
    "PUT /api/v1/close-friends/{account_id}": towards(),
    "DELETE /api/v1/close-friends/{account_id}": access(LETTING_GO, prepare=stand_in, is_blind=True),
    "PUT /api/v1/restrictions/{account_id}": towards(),
    "DELETE /api/v1/restrictions/{account_id}": access(LETTING_GO, prepare=stand_in, is_blind=True),
    "DELETE /api/v1/suggestions/{account_id}": towards(),
}
