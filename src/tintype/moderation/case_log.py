"""The moderation log: every act of a moderator, with who, why, and the case before and after. It only grows."""

import msgspec

from shardwright.routing import Transaction
from tintype.accounts import Account
from tintype.moderation.kinds import OUTCOMES, STATE_AFTER, LogAction
from tintype.moderation.models import Case
from tintype.moderation.store import QUERIES


async def add_log_entry(
    tx: Transaction, case: Case, moderator: Account, action: LogAction, reason: str
) -> int:
    """Add an act to the log, in the transaction that performs it; returns the act's id."""
    before = _state_of(case)
    after = dict(before)
    if action in OUTCOMES:
        state = STATE_AFTER.get(action, case.object_state)
        after |= {"status": "closed", "object_state": state, "outcome": OUTCOMES[action]}
    elif action == "open":
        after["status"] = "open"
    return await tx.fetch_value(
        QUERIES.add_log_entry,
        case_id=case.id,
        moderator_id=moderator.id,
        action=action,
        reason=reason,
        before=msgspec.json.encode(before).decode(),
        after=msgspec.json.encode(after).decode(),
    )


def _state_of(case: Case) -> dict[str, str | None]:
    return {
        "status": case.status,
        "object_state": case.object_state,
        "outcome": case.outcome,
        "claimed_by": str(case.claimed_by) if case.claimed_by else None,
    }
