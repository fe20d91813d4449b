"""Compares rows with files, both ways, account by account, so that memory holds one account at a time.

Files without a row are left by uploads that failed half-way; rows without files are left by a lost disk. Neither is
changed without `fix`, and nothing younger than an hour is reported: an upload writes its files before its row.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from tintype.base.ids import LARGEST_ID, AccountId, MediaId, has_shard
from tintype.base.jobs import Schedule
from tintype.base.log import get_log
from tintype.media.deletion import Deletion
from tintype.media.dependencies import MediaDependencies
from tintype.media.models import Tier
from tintype.media.storage.object_storage import INCOMING, PRIVATE
from tintype.media.store import QUERIES

WEEK_S = 7 * 86_400.0
BATCH = 1_000
MAX_NAMES = 1_000
SETTLED = timedelta(hours=1)
log = get_log("sweeper")


class SweepReport(msgspec.Struct):
    """What a sweep found; at most a thousand names of each kind, and how many there are."""

    accounts: int = 0
    files: int = 0
    bytes: int = 0
    counts: dict[str, int] = msgspec.field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    names: dict[str, list[str]] = msgspec.field(default_factory=lambda: {kind: list[str]() for kind in KINDS})
    is_fixed: bool = False

    def add(self, kind: str, name: str) -> None:
        """Count one finding, and name it while there is room."""
        self.counts[kind] += 1
        if len(self.names[kind]) < MAX_NAMES:
            self.names[kind].append(name)

    @property
    def is_clean(self) -> bool:
        """Whether rows and files agree."""
        return not any(self.counts.values())


KINDS = ("orphans", "doubled", "lost", "stale_uploads")
OnAccount = Callable[[int, int], None]
"""Called after each account, with how many are done and how many there are."""


@dataclass
class _Seen:
    """The objects of one account: public folders by tier, and when each folder last changed."""

    folders: dict[str, set[Tier]] = field(default_factory=dict[str, set[Tier]])
    newest: dict[str, datetime] = field(default_factory=dict[str, datetime])
    uploads: dict[str, datetime] = field(default_factory=dict[str, datetime])


class Sweeper:
    """Finds files without rows and rows without files; deletes or marks them only with `fix`."""

    def __init__(self, dependencies: MediaDependencies, deletion: Deletion) -> None:
        self._shards, self._storage = dependencies.shards, dependencies.storage
        self._changed, self._deletion = dependencies.changed, deletion
        self._usage = dependencies.usage

    def schedules(self) -> list[Schedule]:
        """A weekly sweep that reports and changes nothing."""
        return [Schedule("media-sweep", WEEK_S, self._report)]

    async def sweep(
        self, *, fix: bool = False, on_account: OnAccount = lambda _done, _all: None
    ) -> SweepReport:
        """Compare everything; with `fix`, orphans are deleted and media without files marked as lost."""
        report = SweepReport(is_fixed=fix)
        accounts = sorted(await self._accounts())
        for done, account_id in enumerate(accounts, start=1):
            await self._sweep_account(account_id, report, fix=fix)
            on_account(done, len(accounts))
        report.accounts = len(accounts)
        log.info("media.swept", files=report.files, is_fixed=fix, **report.counts)
        return report

    async def _accounts(self) -> set[AccountId]:
        found = set[int]()
        for tier in self._storage.tiers:
            for area in ("", PRIVATE, INCOMING):
                names = await self._storage.list_folders(area, tier=tier)
                found |= {int(name) for name in names if name.isascii() and name.isdigit()}
        for number in sorted(self._shards.map.owners):
            after = 0
            while rows := await self._shards.shard(number).fetch(
                QUERIES.page_accounts_with_media, after=after, limit=BATCH
            ):
                found |= {row["account_id"] for row in rows}
                after = rows[-1]["account_id"]
        return {AccountId(each) for each in found if 0 < each <= LARGEST_ID}

    async def _sweep_account(self, account_id: AccountId, report: SweepReport, *, fix: bool) -> None:
        seen = await self._list_objects(account_id, report)
        rows: dict[str, Any] = {}
        if has_shard(self._shards, account_id):
            shard = self._shards.owner(account_id)
            found = await shard.fetch(QUERIES.list_folders_of_account, account_id=account_id)
            rows = {row["folder"]: row for row in found}
        for folder in seen.newest:
            await self._check_folder(folder, seen, rows.get(folder), report, fix=fix)
        for folder, row in rows.items():
            if folder not in seen.folders and row["is_settled"] and row["state"] in {"ready", "processing"}:
                report.add("lost", folder)
                if fix:
                    await self._handle_lost(row)
        await self._check_uploads(account_id, seen, report, fix=fix)

    async def _check_folder(
        self, folder: str, seen: _Seen, row: Any, report: SweepReport, *, fix: bool
    ) -> None:
        tiers = seen.folders.get(folder, set())
        if row is None:
            if _is_settled(seen.newest[folder]):
                report.add("orphans", folder)
                if fix:
                    await self._deletion.delete_files(folder)
            return
        in_place = {tier for tier in tiers if self._storage.same_store(tier, row["tier"])}
        if in_place and tiers - in_place:
            report.add("doubled", folder)
            for tier in tiers - in_place if fix else ():
                for prefix in (folder, f"{PRIVATE}/{folder}"):
                    paths = [stored.path async for stored in self._storage.list_objects(prefix, tier=tier)]
                    await self._storage.delete(paths, tier=tier)

    async def _check_uploads(
        self, account_id: AccountId, seen: _Seen, report: SweepReport, *, fix: bool
    ) -> None:
        ids = [int(name) for name in seen.uploads if name.isdigit() and int(name) <= LARGEST_ID]
        open_ids: set[str] = set()
        if ids and has_shard(self._shards, account_id):
            rows = await self._shards.owner(account_id).fetch(QUERIES.list_open_uploads, ids=ids)
            open_ids = {str(row["id"]) for row in rows}
        for name, newest in seen.uploads.items():
            if name not in open_ids and _is_settled(newest):
                prefix = f"{INCOMING}/{account_id}/{name}"
                report.add("stale_uploads", prefix)
                if fix:
                    await self._storage.delete_prefix(prefix)

    async def _list_objects(self, account_id: AccountId, report: SweepReport) -> _Seen:
        seen = _Seen()
        for tier in self._storage.tiers:
            for area in ("", f"{PRIVATE}/", f"{INCOMING}/"):
                async for stored in self._storage.list_objects(f"{area}{account_id}", tier=tier):
                    report.files += 1
                    report.bytes += stored.size_bytes
                    name = stored.path.removeprefix(area).split("/")[1]
                    if area == f"{INCOMING}/":
                        seen.uploads[name] = max(seen.uploads.get(name, stored.changed_at), stored.changed_at)
                        continue
                    folder = f"{account_id}/{name}"
                    if not area:
                        seen.folders.setdefault(folder, set()).add(tier)
                    seen.newest[folder] = max(seen.newest.get(folder, stored.changed_at), stored.changed_at)
        return seen

    async def _handle_lost(self, row: Any) -> None:
        """Delete an unposted upload whose files are gone; a posted one is marked, and shown as lost."""
        media_id = MediaId(row["id"])
        if row["post_id"] is None:
            await self._deletion.delete([media_id], only_unposted=True)
        else:
            await self._shards.owner(media_id).fetch_one(QUERIES.mark_lost, id=media_id)
            await self._usage.measure(media_id)
            await self._changed.notify([media_id])

    async def _report(self) -> None:
        await self.sweep()


def _is_settled(changed_at: datetime) -> bool:
    return changed_at < datetime.now(UTC) - SETTLED
