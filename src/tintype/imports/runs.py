"""Imports that people start in the app, as their rows say."""

from datetime import datetime
from typing import Literal

import msgspec

from tintype.base.ids import AccountId

ImportSource = Literal["instagram", "mastodon", "pixelfed", "folder"]
ImportState = Literal["uploading", "waiting", "running", "done", "stopped", "failed", "cancelled"]
LineKind = Literal["skipped", "changed"]
UNDER_WAY: tuple[ImportState, ...] = ("uploading", "waiting", "running")


class ImportRun(msgspec.Struct, frozen=True):
    """One import: what it is of, how far it is, and how it ended."""

    id: int
    account_id: AccountId
    source: ImportSource
    with_stories: bool
    state: ImportState
    reason_code: str
    """Why it stopped or failed, for programs."""
    reason: str
    total: int
    known_before: int | None
    """Posts of the archive that had been imported before this import."""
    done: int
    imported: int
    skipped: int
    changed: int
    following_here: list[str]
    """Usernames here that are also those of people followed at the source; they need not be the same people."""
    followers_here: list[str]
    ended_at: datetime | None


class UploadedArchive(msgspec.Struct, frozen=True):
    """One archive of an import, in the parts in which it arrives."""

    id: int
    import_id: int
    account_id: AccountId
    name: str
    """As its sender calls it; no file is ever opened by this name."""
    size_bytes: int
    received_bytes: int
    parts: list[str]

    @property
    def is_complete(self) -> bool:
        """Whether all bytes have arrived."""
        return self.received_bytes == self.size_bytes


class ReportLine(msgspec.Struct, frozen=True):
    """Something that was not imported, or otherwise than it was, and why."""

    id: int
    kind: LineKind
    name: str
    code: str
    reason: str


class ReportPage(msgspec.Struct, frozen=True):
    """Lines of a report, and the id after which the next page begins."""

    lines: list[ReportLine]
    next_after: int | None
