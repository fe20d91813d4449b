"""What exports and departures look like to the rest of the house."""

from datetime import datetime
from typing import Literal

import msgspec

from tintype.base.ids import AccountId

State = Literal["waiting", "running", "ready", "failed"]


class Export(msgspec.Struct, frozen=True):
    """An archive that is being made or can be fetched."""

    id: int
    account_id: AccountId
    state: State
    room: str
    records: int
    path: str
    size_bytes: int
    expires_at: datetime


class Departure(msgspec.Struct, frozen=True):
    """Somebody's wish to leave, and how far it has come."""

    account_id: AccountId
    due_at: datetime
    started_at: datetime | None
    room: str
    erased: int
