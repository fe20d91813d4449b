"""The report of an import: what was added, what had been there, and all that was left out, each with its reason."""

from typing import Literal

import msgspec

from tintype.imports.reasons import Coded, SkippedItem, skip


class ImportReport(msgspec.Struct, kw_only=True):
    """Filled in while an import runs."""

    source: str
    state: Literal["planned", "running", "done", "stopped"] = "running"
    """`planned`: a dry run, which has added nothing. `stopped`: a repeated run continues where this one ended."""
    stopped_because: str = ""
    stopped_code: str = ""
    """The same for programs."""
    total: int = 0
    done: int = 0
    """How many of the items have been dealt with."""
    imported: int = 0
    """New posts; in a dry run those that there would be."""
    already_imported: int = 0
    media: int = 0
    """Photos and videos of new posts."""
    skipped: list[SkippedItem] = msgspec.field(default_factory=list[SkippedItem])
    notes: list[SkippedItem] = msgspec.field(default_factory=list[SkippedItem])
    """Items that were imported otherwise than they were, each with what was changed."""
    following_here: list[str] = msgspec.field(default_factory=list[str])
    """Usernames here that are also those of people followed at the source; they need not be the same people."""
    followers_here: list[str] = msgspec.field(default_factory=list[str])

    def skip(self, name: str, why: Coded) -> None:
        """Name something that is not imported."""
        self.skipped.append(skip(name, why))

    def note(self, name: str, what: Coded) -> None:
        """Name something that is imported otherwise than it was."""
        self.notes.append(skip(name, what))
