"""Updates of the viewer, as the live connection shows them too."""

from datetime import datetime
from typing import Any

import msgspec

from tintype.sync import SyncPage


class UpdateView(msgspec.Struct, frozen=True):
    """One update: its number in the viewer's sequence, and what happened."""

    seq: int
    kind: str
    at: datetime
    payload: dict[str, Any]


class SyncView(msgspec.Struct, frozen=True):
    """Updates after a number, oldest first."""

    updates: list[UpdateView]
    seq: int
    """The number of the viewer's latest update."""
    has_more: bool
    """Whether there are more after these: continue from the last one's `seq`."""
    is_reset: bool
    """Some updates are no longer kept: fetch the state anew, then continue from `seq`."""


def show_sync(page: SyncPage) -> SyncView:
    """A page of the log for its owner."""
    updates = [
        UpdateView(each.seq, each.kind, each.at, msgspec.json.decode(each.payload, type=dict[str, Any]))
        for each in page.updates
    ]
    has_more = bool(updates) and updates[-1].seq < page.seq
    return SyncView(updates, page.seq, has_more, page.is_reset)
