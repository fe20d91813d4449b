"""What each change makes of an account's status. Pure.

Two facts are kept apart: what its owner chose (active, deactivated, leaving) and whether it is suspended. A suspension
outranks the choice and keeps it: an account whose owner asked for its deletion is erased when the grace
period ends, suspended or not, and nothing that an owner does lifts a suspension. `gone` is final.
"""

from typing import Literal, NamedTuple

from tintype.accounts.errors import AccountGone
from tintype.accounts.models import OwnStatus, Status

StatusChange = Literal["suspend", "lift_suspension", "deactivate", "begin_deletion", "sign_in", "restore"]
"""`restore` is an operator's: it lifts a suspension, or else undoes what the owner chose."""


class AccountState(NamedTuple):
    """The status of an account, and the one that it returns to when its suspension is lifted."""

    status: Status
    after_suspension: OwnStatus | None = None


def apply_change(state: AccountState, change: StatusChange) -> AccountState:
    """The state after a change; refused when the account is being erased."""
    if state.status == "gone":
        raise AccountGone
    own: OwnStatus = state.after_suspension or "active" if state.status == "suspended" else state.status
    match change:
        case "suspend":
            return AccountState("suspended", own)
        case "lift_suspension":
            return AccountState(own)
        case "restore":
            return AccountState(own if state.status == "suspended" else "active")
        case "deactivate":
            return _chosen(state, "leaving" if own == "leaving" else "deactivated")
        case "begin_deletion":
            return _chosen(state, "leaving")
        case "sign_in":
            return _chosen(state, "active")


def _chosen(state: AccountState, own: OwnStatus) -> AccountState:
    return AccountState("suspended", own) if state.status == "suspended" else AccountState(own)
