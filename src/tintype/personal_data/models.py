"""The types of this room: exports and erasure requests."""

from datetime import datetime
from typing import Literal

import msgspec

from tintype.base.ids import AccountId

ExportState = Literal["waiting", "running", "ready", "failed"]


class Export(msgspec.Struct, frozen=True):
    """An archive of personal data that is being made or can be downloaded."""

    id: int
    account_id: AccountId
    state: ExportState
    room: str
    records: int
    path: str
    size_bytes: int
    expires_at: datetime


class ErasureRequest(msgspec.Struct, frozen=True):
    """The requested deletion of an account, and its progress."""

    account_id: AccountId
    due_at: datetime
    started_at: datetime | None
    room: str
    erased: int
