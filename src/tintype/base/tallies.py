"""Recounts: a stored count is compared with the rows it counts, and put right where the two differ.

Counts move in the transaction of the rows they count, so they agree; but buffered changes can be lost with Redis, and
people do repair databases by hand. Shards are looked at one after another in small slices, while the work goes on.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

from prometheus_client import Counter

from shardwright.running import Query, Shard, Shards
from tintype.base.log import get_log

log = get_log("tallies")
SLICE = 500
MOST_EXAMPLES = 20
PAUSE_S = 0.005
"""Between slices, so that a recount never has a server to itself."""

count_drifts = Counter(
    "tintype_count_drifts", "Counts found wrong, by tally and what became of them.", ["tally", "outcome"]
)


@dataclass(frozen=True)
class Tally:
    """One count and how it is checked.

    `scan` takes :after and :limit and returns id, stored and counted; `lock` takes :id, locks the row that has the
    count and returns the count; `recount` takes :id; `store` takes :id and :count.
    """

    name: str
    scan: Query
    lock: Query
    recount: Query
    store: Query
    settling: Callable[[Iterable[int]], Awaitable[set[int]]] | None = None
    """Those whose count may differ for a while by design, because changes of it are buffered."""
    repaired: Callable[[int], Awaitable[None]] | None = None
    """Told of each count that was put right, to forget what is cached."""


@dataclass
class TallyReport:
    """What a recount came to."""

    tally: str
    looked_at: int = 0
    drifted: int = 0
    repaired: int = 0
    settling: int = 0
    """Left alone because their changes are buffered at the moment."""
    examples: list[dict[str, int]] = field(default_factory=list[dict[str, int]])


Progress = Callable[[str, int, int], None]
"""Told the tally, how many shards are done, and how many there are."""


class Reconciler:
    """Compares counts with rows on every shard."""

    def __init__(self, shards: Shards, tallies: Sequence[Tally]) -> None:
        self._shards, self._tallies = shards, tallies

    async def run(self, *, fix: bool, progress: Progress | None = None) -> list[TallyReport]:
        """Look at every count; with `fix`, put right what differs."""
        reports = [await self._check(tally, fix=fix, progress=progress) for tally in self._tallies]
        for report in reports:
            log.info(
                "counts.reconciled",
                tally=report.tally,
                looked_at=report.looked_at,
                drifted=report.drifted,
                repaired=report.repaired,
                settling=report.settling,
            )
        return reports

    async def _check(self, tally: Tally, *, fix: bool, progress: Progress | None) -> TallyReport:
        report = TallyReport(tally.name)
        numbers = sorted(self._shards.map.owners)
        for done, number in enumerate(numbers, start=1):
            await self._check_shard(tally, self._shards.shard(number), report, fix=fix)
            if progress is not None:
                progress(tally.name, done, len(numbers))
        return report

    async def _check_shard(self, tally: Tally, shard: Shard, report: TallyReport, *, fix: bool) -> None:
        after = 0
        while rows := await shard.fetch(tally.scan, after=after, limit=SLICE):
            after = rows[-1]["id"]
            report.looked_at += len(rows)
            wrong = [row for row in rows if row["stored"] != row["counted"]]
            unsettled = (
                await tally.settling([row["id"] for row in wrong]) if tally.settling and wrong else set[int]()
            )
            for row in wrong:
                if row["id"] in unsettled:
                    report.settling += 1
                    continue
                await self._note(tally, shard, report, (row["id"], row["stored"], row["counted"]), fix=fix)
            await asyncio.sleep(PAUSE_S)

    async def _note(
        self, tally: Tally, shard: Shard, report: TallyReport, found: tuple[int, int, int], *, fix: bool
    ) -> None:
        each, stored, counted = found
        report.drifted += 1
        if len(report.examples) < MOST_EXAMPLES:
            report.examples.append({"id": each, "stored": stored, "counted": counted})
        is_repaired = fix and await self._repair(tally, shard, each)
        report.repaired += is_repaired
        count_drifts.labels(tally.name, "repaired" if is_repaired else "found").inc()
        log.warning(
            "count.drifted",
            tally=tally.name,
            id=each,
            stored=stored,
            counted=counted,
            is_repaired=is_repaired,
        )

    async def _repair(self, tally: Tally, shard: Shard, each: int) -> bool:
        """Count again under the lock of the row, in a statement of its own: it sees all that committed before."""
        async with shard.begin() as tx:
            if await tx.fetch_one(tally.lock, id=each) is None:
                return False
            counted = await tx.fetch_value(tally.recount, id=each)
            # Asked last: whatever the recount saw had its mark before it committed.
            if tally.settling and each in await tally.settling([each]):
                return False
            await tx.execute(tally.store, id=each, count=counted)
        if tally.repaired is not None:
            await tally.repaired(each)
        return True
