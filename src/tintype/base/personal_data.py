"""The contract for rooms that hold personal data: they can export it and erase it.

Both may take long and may be interrupted at any moment, so both are made of small steps that can be repeated.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Protocol

from tintype.base.ids import AccountId


@dataclass(frozen=True)
class ExportRecord:
    """One entry of an export: `file` names the JSON file it is listed in, `attachment` a media file to add, if any."""

    file: str
    content: dict[str, Any]
    attachment: str | None = None


class PersonalDataHolder(Protocol):
    """A room that holds personal data."""

    def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """Everything the room holds about this person, oldest first."""
        ...

    async def erase(self, account_id: AccountId) -> int:
        """Delete some of it, on whichever shard; returns how much. It is called until nothing is left."""
        ...

    async def count_left(self, account_id: AccountId) -> int:
        """How much is still there: 0 proves that the room holds nothing about this person any more."""
        ...
