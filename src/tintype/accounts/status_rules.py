"""What each change makes of an account's status. Pure.

Two facts are kept apart: what its owner chose (active, deactivated, leaving) and whether it is suspended. A suspension
outranks the choice and leaves it standing: an account whose owner asked for its deletion is erased when the grace
period ends, suspended or not, and nothing that an owner does lifts a suspension. `gone` is final.
"""

from typing import Literal, NamedTuple

from tintype.accounts.errors import AccountGone
from tintype.accounts.models import OwnStatus, Status

StatusChange = Literal["suspend", "lift_suspension", "deactivate", "begin_deletion", "sign_in", "restore"]
"""`restore` is an operator's: it lifts a suspension, or else undoes what the owner chose."""


class Standing(NamedTuple):
    """The status of an account, and the one that it returns to when its suspension is lifted."""

    status: Status
    after_suspension: OwnStatus | None = None


def apply_change(standing: Standing, change: StatusChange) -> Standing:
    """The standing after a change; refused when the account is being erased."""
    if standing.status == "gone":
        raise AccountGone
    own: OwnStatus = (
        standing.after_suspension or "active" if standing.status == "suspended" else standing.status
    )
    match change:
        case "suspend":
            return Standing("suspended", own)
        case "lift_suspension":
            return Standing(own)
        case "restore":
            return Standing(own if standing.status == "suspended" else "active")
        case "deactivate":
            return _chosen(standing, "leaving" if own == "leaving" else "deactivated")
        case "begin_deletion":
            return _chosen(standing, "leaving")
        case "sign_in":
            return _chosen(standing, "active")


def _chosen(standing: Standing, own: OwnStatus) -> Standing:
    return Standing("suspended", own) if standing.status == "suspended" else Standing(own)
