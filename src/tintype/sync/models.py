"""What the update log holds."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from tintype.base.ids import AccountId


@dataclass(frozen=True)
class Update:
    """Something that a person's clients must hear of.

    `key` is unique per account: appending the same key again adds nothing. Ids in the payload are strings. `people` are
    all other accounts that key or payload name: the update is redacted when one of them is erased.
    """

    account_id: AccountId
    key: str
    kind: str
    payload: dict[str, Any]
    people: tuple[AccountId, ...] = ()


class LoggedUpdate(msgspec.Struct, frozen=True):
    """An update with its number in the log of its account; one that was redacted has the kind `redacted`."""

    seq: int
    kind: str
    at: datetime
    payload: msgspec.Raw


class SyncPage(msgspec.Struct, frozen=True):
    """Updates after a position, oldest first."""

    updates: list[LoggedUpdate]
    seq: int
    """The number of the latest update of the account, which may be beyond this page."""
    is_reset: bool
    """Updates between the position and the log's beginning are gone: fetch state anew, then continue from `seq`."""
