"""What every room that keeps something of a person's can do with it: hand it out, and let it go.

Both may take long and may be interrupted at any moment, so both are made of small steps that can be repeated.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Protocol

from tintype.base.ids import AccountId


@dataclass(frozen=True)
class Record:
    """One entry of an export: `file` names the JSON file it is listed in, `attachment` a media file to add, if any."""

    file: str
    content: dict[str, Any]
    attachment: str | None = None


class Belongings(Protocol):
    """A room's part in exports and deletions."""

    def export(self, account_id: AccountId) -> AsyncIterator[Record]:
        """Everything the room keeps of this person, oldest first."""
        ...

    async def erase(self, account_id: AccountId) -> int:
        """Remove some of it, wherever it lies; returns how much. It is called until nothing is left."""
        ...

    async def count_left(self, account_id: AccountId) -> int:
        """How much is still there: 0 proves that the room has let go."""
        ...
