"""Compares rows with files, both ways, account by account, so that memory holds one account at a time.

Files without a row are what an upload left that failed half-way; rows without files are what a lost disk left. Neither
is touched unless asked for, and nothing younger than an hour is judged: an upload writes its files before its row.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from shardwright.running import Shards
from tintype.base.ids import LARGEST_ID, AccountId, MediaId, has_shard
from tintype.base.jobs import Schedule
from tintype.base.log import get_log
from tintype.media.models import Tier
from tintype.media.service import MediaLibrary
from tintype.media.sql import QUERIES
from tintype.media.storage import INCOMING, PRIVATE, Storage

WEEK_S = 7 * 86_400.0
BITE = 1_000
MOST_NAMED = 1_000
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
        """One more of a kind."""
        self.counts[kind] += 1
        if len(self.names[kind]) < MOST_NAMED:
            self.names[kind].append(name)

    @property
    def is_clean(self) -> bool:
        """Whether rows and files agree."""
        return not any(self.counts.values())


KINDS = ("orphans", "doubled", "lost", "stale_uploads")
OnAccount = Callable[[int, int], None]


@dataclass
class _Seen:
    """What lies in the stores for one account: public folders by tier, and how new everything is."""

    folders: dict[str, set[Tier]] = field(default_factory=dict[str, set[Tier]])
    newest: dict[str, datetime] = field(default_factory=dict[str, datetime])
    uploads: dict[str, datetime] = field(default_factory=dict[str, datetime])


class Sweeper:
    """Finds files nobody owns and rows without files; takes them away only when told to."""

    def __init__(self, shards: Shards, storage: Storage, library: MediaLibrary) -> None:
        self._shards, self._storage, self._library = shards, storage, library

    def schedules(self) -> list[Schedule]:
        """Once a week it reports, and changes nothing."""
        return [Schedule("media-sweep", WEEK_S, self._report)]

    async def sweep(
        self, *, fix: bool = False, on_account: OnAccount = lambda _done, _all: None
    ) -> SweepReport:
        """Look at everything; with `fix`, orphans are deleted and lost pictures marked as lost."""
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
                names = await self._storage.list_names(area, tier=tier)
                found |= {int(name) for name in names if name.isascii() and name.isdigit()}
        for number in sorted(self._shards.map.owners):
            after = 0
            while rows := await self._shards.shard(number).fetch(
                QUERIES.page_accounts_with_media, after=after, limit=BITE
            ):
                found |= {row["account_id"] for row in rows}
                after = rows[-1]["account_id"]
        return {AccountId(each) for each in found if 0 < each <= LARGEST_ID}

    async def _sweep_account(self, account_id: AccountId, report: SweepReport, *, fix: bool) -> None:
        seen = await self._look(account_id, report)
        rows: dict[str, Any] = {}
        if has_shard(self._shards, account_id):
            shard = self._shards.owner(account_id)
            found = await shard.fetch(QUERIES.list_folders_of_account, account_id=account_id)
            rows = {row["folder"]: row for row in found}
        for folder in seen.newest:
            await self._judge_folder(folder, seen, rows.get(folder), report, fix=fix)
        for folder, row in rows.items():
            if folder not in seen.folders and row["is_settled"] and row["state"] in {"ready", "processing"}:
                report.add("lost", folder)
                if fix:
                    await self._let_go(row)
        await self._judge_uploads(account_id, seen, report, fix=fix)

    async def _judge_folder(
        self, folder: str, seen: _Seen, row: Any, report: SweepReport, *, fix: bool
    ) -> None:
        tiers = seen.folders.get(folder, set())
        if row is None:
            if _is_settled(seen.newest[folder]):
                report.add("orphans", folder)
                if fix:
                    await self._library.remove_files(folder)
            return
        at_home = {tier for tier in tiers if self._storage.same_store(tier, row["tier"])}
        if at_home and tiers - at_home:
            report.add("doubled", folder)
            for tier in tiers - at_home if fix else ():
                for prefix in (folder, f"{PRIVATE}/{folder}"):
                    paths = [stored.path async for stored in self._storage.walk(prefix, tier=tier)]
                    await self._storage.delete(paths, tier=tier)

    async def _judge_uploads(
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
                    await self._storage.delete_below(prefix)

    async def _look(self, account_id: AccountId, report: SweepReport) -> _Seen:
        seen = _Seen()
        for tier in self._storage.tiers:
            for area in ("", f"{PRIVATE}/", f"{INCOMING}/"):
                async for stored in self._storage.walk(f"{area}{account_id}", tier=tier):
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

    async def _let_go(self, row: Any) -> None:
        """Without files an unposted upload is nothing; a posted one is shown as lost."""
        media_id = MediaId(row["id"])
        if row["post_id"] is None:
            await self._library.delete([media_id], only_unposted=True)
        else:
            await self._shards.owner(media_id).fetch_one(QUERIES.mark_lost, id=media_id)
            await self._library.forget_cards([media_id])

    async def _report(self) -> None:
        await self.sweep()


def _is_settled(changed_at: datetime) -> bool:
    return changed_at < datetime.now(UTC) - SETTLED
