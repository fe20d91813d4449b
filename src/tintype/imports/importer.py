"""Publishes the items of an archive: media through the normal pipeline, each post in a transaction with its key.

An import can be killed at any moment and run again: what has its key in a post is passed over. A killed run leaves at
most an upload or two that nothing shows, which expire like any other.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

import asyncpg
import msgspec

from shardwright.errors import ShardwrightError
from tintype.accounts import Accounts
from tintype.base.errors import TintypeError, Unavailable
from tintype.base.ids import AccountId
from tintype.base.log import get_log
from tintype.graph import Visibility
from tintype.imports.archive_files import ArchiveFile
from tintype.imports.errors import FileUnreadable
from tintype.imports.models import ArchiveContents, ItemMedia
from tintype.imports.plan import PlannedPost, plan_posts
from tintype.imports.reasons import SkippedItem, not_reached, skip
from tintype.imports.report import ImportReport
from tintype.imports.times import read_camera, read_name
from tintype.media import Media, MediaLibrary, MediaRefused, Spool, StorageFull
from tintype.posts import DraftMedia, ImportedPost, Posts

BATCH = 500
AT_ONCE = 2
"""Posts whose media are being processed while the one before them is published; an account has two slots for files."""
HEAD_BYTES = 4096
RETRIES_S = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0)
TRANSIENT = (Unavailable, ShardwrightError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError)
OnProgress = Callable[[ImportReport], Awaitable[None]]
"""Called after each post, and before one of which a part was left out; what it raises ends the run."""
T = TypeVar("T")
log = get_log("imports")


class ImportOptions(msgspec.Struct, frozen=True):
    """What the importer of an archive chooses."""

    is_dry_run: bool = False
    with_stories: bool = True
    """Stories become archived posts, which their owner alone sees."""
    raises_transient: bool = False
    """A server that stays away is an error, for whoever runs the import again; else it ends the run."""


@dataclass
class _Prepared:
    """A post whose media are uploaded."""

    media: list[DraftMedia] = field(default_factory=list[DraftMedia])
    posted_at: datetime | None = None
    """The camera's time, where the archive has none."""
    skipped: list[SkippedItem] = field(default_factory=list[SkippedItem])


class Importer:
    """Imports archives into accounts."""

    def __init__(
        self, accounts: Accounts, visibility: Visibility, *, media: MediaLibrary, posts: Posts
    ) -> None:
        self._accounts, self._visibility, self._media, self._posts = accounts, visibility, media, posts

    async def run(
        self,
        account_id: AccountId,
        contents: ArchiveContents,
        options: ImportOptions,
        on_progress: OnProgress,
    ) -> ImportReport:
        """Publish what is not published yet; a dry run says what that would be and changes nothing."""
        report = ImportReport(source=contents.source, skipped=list(contents.skipped))
        planned = await asyncio.to_thread(plan_posts, contents, report, with_stories=options.with_stories)
        report.total = len(planned)
        new = await self._leave_out_published(account_id, planned, report)
        report.following_here = await self._find_names(account_id, contents.following)
        report.followers_here = await self._find_names(account_id, contents.followers)
        await on_progress(report)
        if options.is_dry_run:
            report.state = "planned"
            for each in new:
                await asyncio.to_thread(self._check, each, report)
                await on_progress(report)
            return report
        await self._publish_all(account_id, new, report, on_progress, options)
        log.info("import.ended", account_id=account_id, source=report.source, imported=report.imported)
        return report

    async def _leave_out_published(
        self, account_id: AccountId, planned: Sequence[PlannedPost], report: ImportReport
    ) -> list[PlannedPost]:
        known: set[str] = set()
        for at in range(0, len(planned), BATCH):
            keys = [each.key for each in planned[at : at + BATCH]]
            known |= await self._posts.which_imported(account_id, keys)
        report.already_imported = report.done = sum(each.key in known for each in planned)
        return [each for each in planned if each.key not in known]

    async def _find_names(self, account_id: AccountId, names: Sequence[str]) -> list[str]:
        """Those of the names that exist here, too, and that the importing person may know of.

        They are only named: the same name need not be the same person.
        """
        found: list[str] = []
        for at in range(0, len(names), BATCH):
            accounts = await self._accounts.find_by_usernames(names[at : at + BATCH])
            visible = await self._visibility.find_accounts(
                account_id, (each.id for each in accounts.values())
            )
            found += [name for name, account in accounts.items() if account.id in visible]
        return sorted(found)

    def _check(self, post: PlannedPost, report: ImportReport) -> None:
        """What a real run would do with a post, as far as the first bytes of its files tell."""
        usable = 0
        for each in post.media:
            try:
                self._media.detect_type(each.file.head(HEAD_BYTES))
            except (FileUnreadable, MediaRefused) as error:
                report.skip(_name(post, each), error)
            else:
                usable += 1
        report.imported += bool(usable)
        report.media += usable
        report.done += 1

    async def _publish_all(
        self,
        account_id: AccountId,
        new: list[PlannedPost],
        report: ImportReport,
        on_progress: OnProgress,
        options: ImportOptions,
    ) -> None:
        """Publish in order, with the media of the next ones being processed meanwhile."""
        under_way: deque[tuple[PlannedPost, asyncio.Task[_Prepared]]] = deque()
        waiting = deque(new)
        try:
            while waiting or under_way:
                while waiting and len(under_way) < AT_ONCE:
                    post = waiting.popleft()
                    under_way.append((post, asyncio.create_task(self._prepare(account_id, post))))
                post, preparing = under_way[0]
                prepared = await preparing
                if prepared.skipped:  # known to whoever continues, before the post says that this one is done
                    report.skipped += prepared.skipped
                    await on_progress(report)
                await self._publish(account_id, post, prepared, report)
                under_way.popleft()
                report.done += 1
                await on_progress(report)
            report.state = "done"
        except (StorageFull, *TRANSIENT) as error:
            if options.raises_transient and not isinstance(error, StorageFull):
                raise
            _stop(report, error, [*(post for post, _ in under_way), *waiting])
            await on_progress(report)
        finally:
            for _, task in under_way:
                task.cancel()
            await asyncio.gather(*(task for _, task in under_way), return_exceptions=True)

    async def _prepare(self, account_id: AccountId, post: PlannedPost) -> _Prepared:
        prepared = _Prepared()
        for each in post.media:
            try:
                media = await _retried(lambda file=each.file: self._upload(account_id, file))
            except (FileUnreadable, MediaRefused) as error:
                prepared.skipped.append(skip(_name(post, each), error))
                continue
            prepared.media.append(DraftMedia(media.id, each.alt_text))
            if post.item.posted_at is None and prepared.posted_at is None:
                prepared.posted_at = await self._camera_time(account_id, media)
        return prepared

    async def _upload(self, account_id: AccountId, file: ArchiveFile) -> Media:
        with self._media.spool() as spool:
            await asyncio.to_thread(_copy, file, spool)
            return await self._media.upload(account_id, spool.path, is_imported=True)

    async def _camera_time(self, account_id: AccountId, media: Media) -> datetime | None:
        exif = msgspec.json.decode(
            await self._media.read_exif(media.id, owner=account_id), type=dict[str, object]
        )
        original = read_camera(exif.get("DateTimeOriginal"), exif.get("OffsetTimeOriginal"))
        return original or read_camera(exif.get("DateTime"))

    async def _publish(
        self, account_id: AccountId, post: PlannedPost, prepared: _Prepared, report: ImportReport
    ) -> None:
        if not prepared.media:
            return
        first = post.media[0].file
        posted_at = (
            post.item.posted_at or prepared.posted_at or read_name(first.base_name) or first.modified_at
        )
        imported = ImportedPost(
            key=post.key,
            posted_at=posted_at,
            media=tuple(prepared.media),
            caption=post.caption,
            is_archived=post.item.is_archived,
        )
        published = await _retried(lambda: self._posts.publish_imported(account_id, imported))
        if published.is_new:
            report.imported += 1
            report.media += len(prepared.media)
        else:
            report.already_imported += 1
            await self._media.delete([each.media_id for each in prepared.media], only_unposted=True)


def _copy(file: ArchiveFile, spool: Spool) -> None:
    """Copy a file out of its archive; ends as soon as it is larger than a file of its type may be."""
    with contextlib.closing(file.chunks()) as chunks:
        for chunk in chunks:
            spool.write(chunk)
    spool.close()
    spool.check()


async def _retried(work: Callable[[], Awaitable[T]]) -> T:
    """Do something again, a little later each time, while a server does not answer."""
    for pause_s in RETRIES_S:
        try:
            return await work()
        except TRANSIENT as error:
            log.warning("import.postponed", error=f"{type(error).__name__}: {error}", pause_s=pause_s)
            await asyncio.sleep(pause_s)
    return await work()


def _stop(report: ImportReport, error: Exception, left: list[PlannedPost]) -> None:
    """Name everything that was not reached, and why."""
    reason = str(error) if isinstance(error, TintypeError) else f"{type(error).__name__}: {error}"
    report.state, report.stopped_because = "stopped", reason
    report.stopped_code = error.code if isinstance(error, TintypeError) else Unavailable.code
    for post in left:
        report.skip(post.name, not_reached(reason))


def _name(post: PlannedPost, media: ItemMedia) -> str:
    return post.name if post.name == media.file.name else f"{post.name}: {media.file.name}"
