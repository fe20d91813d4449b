"""The contract for rooms that hold personal data: they can export it and erase it.

Both may take long and may be interrupted at any moment, so both are made of small steps that can be repeated.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tintype.base.ids import AccountId


@dataclass(frozen=True)
class ExportRecord:
    """One entry of an export: `file` names the JSON file it is listed in."""

    file: str
    content: dict[str, Any]
    media_folder: str | None = None
    """The folder of a photo or video to add to the archive, if any."""


class PersonalDataHolder(Protocol):
    """The part of a room that exports and erases what the room holds about a person."""

    def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """Everything the room holds about this person, oldest first."""
        ...

    async def erase(self, account_id: AccountId) -> int:
        """Delete some of it, on whichever shard; returns how much. It is called until nothing is left."""
        ...

    async def count_left(self, account_id: AccountId) -> int:
        """How much is still there: 0 proves that the room holds nothing about this person any more."""
        ...


Holders = Mapping[str, PersonalDataHolder]
"""The holders of personal data by the name of their room, in the order in which they are erased."""
