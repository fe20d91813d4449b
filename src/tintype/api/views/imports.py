"""Imports of posts from elsewhere, their archives and their reports."""

from datetime import datetime, timedelta

import msgspec

from tintype.imports import (
    KEPT_ARCHIVES_DAYS,
    ImportRun,
    ImportSource,
    ImportState,
    LineKind,
    ReportLine,
    UploadedArchive,
)


class ImportArchiveView(msgspec.Struct, frozen=True):
    """An archive that is being uploaded; `received_bytes` of it are stored."""

    archive_id: str
    name: str
    size_bytes: int
    received_bytes: int
    upload_url: str
    """Where its bytes are sent, by the tus protocol."""


class ImportView(msgspec.Struct, frozen=True):
    """An import: what it is of, how far it is, and how it ended."""

    import_id: str
    source: ImportSource
    with_stories: bool
    state: ImportState
    """`stopped`: it ended before its last post, and its report names what it did not reach; `start` continues it."""
    reason_code: str
    """Why it stopped, failed or expired; empty otherwise."""
    reason: str
    total: int
    done: int
    imported: int
    """New posts of this import."""
    already_imported: int
    """Posts of the archive that an earlier import had added."""
    skipped: int
    changed: int
    following_here: list[str]
    """Usernames here that are also those of people one follows at the source; they need not be the same people."""
    followers_here: list[str]
    archives: list[ImportArchiveView]
    """None once the import has ended: then they are deleted, but for those of one that stopped."""
    kept_until: datetime | None
    """Until when an import that stopped can be continued."""
    max_bytes: int
    """What its archives may have together."""
    ended_at: datetime | None


class ImportsView(msgspec.Struct, frozen=True):
    """Imports, the latest first, and what the archives of one may have together."""

    imports: list[ImportView]
    max_bytes: int
    """Zero: imports are switched off."""


class ImportLineView(msgspec.Struct, frozen=True):
    """Something that was skipped, or imported otherwise than it was, and why."""

    kind: LineKind
    name: str
    """Where it stands in the archive."""
    code: str
    reason: str


class ImportReportView(msgspec.Struct, frozen=True):
    """A page of a report, in the order in which things were found."""

    lines: list[ImportLineView]
    next_cursor: str | None
    has_more: bool


def show_import(run: ImportRun, archives: list[UploadedArchive], max_bytes: int) -> ImportView:
    """An import with its archives, while it has any."""
    return ImportView(
        import_id=str(run.id),
        source=run.source,
        with_stories=run.with_stories,
        state=run.state,
        reason_code=run.reason_code,
        reason=run.reason,
        total=run.total,
        done=run.done,
        imported=run.imported,
        already_imported=run.known_before or 0,
        skipped=run.skipped,
        changed=run.changed,
        following_here=run.following_here,
        followers_here=run.followers_here,
        archives=[_show_archive(each) for each in archives],
        kept_until=_kept_until(run, archives),
        max_bytes=max_bytes,
        ended_at=run.ended_at,
    )


def show_line(line: ReportLine) -> ImportLineView:
    """A line of a report."""
    return ImportLineView(line.kind, line.name, line.code, line.reason)


def archive_url(archive: UploadedArchive) -> str:
    """Where the bytes of an archive are sent."""
    return f"/api/v1/imports/{archive.import_id}/archives/{archive.id}"


def _kept_until(run: ImportRun, archives: list[UploadedArchive]) -> datetime | None:
    if run.ended_at is None or not archives:
        return None
    return run.ended_at + timedelta(days=KEPT_ARCHIVES_DAYS)


def _show_archive(archive: UploadedArchive) -> ImportArchiveView:
    return ImportArchiveView(
        str(archive.id), archive.name, archive.size_bytes, archive.received_bytes, archive_url(archive)
    )
