"""Counter reconciliation: compares stored counters with the rows they count, and repairs those that have drifted.

Counters change in the transaction of the rows they count, so they agree; but buffered changes can be lost with Redis,
and people do repair databases by hand. Shards are scanned one after another in small batches, while traffic goes on.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

from prometheus_client import Counter

from shardwright.routing import Query, Shard, Shards
from tintype.base.log import get_log

log = get_log("counters")
BATCH = 500
MAX_EXAMPLES = 20
PAUSE_S = 0.005
"""Between batches, so that reconciling never has a server to itself."""

count_drifts = Counter(
    "tintype_count_drifts", "Counters that had drifted, by counter and outcome.", ["tally", "outcome"]
)


@dataclass(frozen=True)
class ReconciledCounter:
    """One counter column and the queries that check and repair it.

    `scan` takes :after and :limit and returns id, stored and counted; `lock` takes :id, locks the row that holds the
    counter and returns it; `recount` takes :id; `store` takes :id and :count.
    """

    name: str
    scan: Query
    lock: Query
    recount: Query
    store: Query
    find_unsettled: Callable[[Iterable[int]], Awaitable[set[int]]] | None = None
    """Returns those of the ids whose counter may differ for a while by design, because changes of it are buffered."""
    on_repaired: Callable[[int], Awaitable[None]] | None = None
    """Called with each id whose counter was repaired, to invalidate what is cached."""


@dataclass
class ReconcileReport:
    """How many values of one counter were compared with the rows they count, had drifted, and were repaired."""

    counter: str
    checked: int = 0
    drifted: int = 0
    repaired: int = 0
    unsettled: int = 0
    """Not repaired because changes of them are buffered at the moment."""
    examples: list[dict[str, int]] = field(default_factory=list[dict[str, int]])


ReconcileProgress = Callable[[str, int, int], None]
"""Called with the counter's name, how many shards are done, and how many there are."""


class CounterReconciler:
    """Compares counters with rows on every shard."""

    def __init__(self, shards: Shards, counters: Sequence[ReconciledCounter]) -> None:
        self._shards, self._counters = shards, counters

    async def run(self, *, fix: bool, progress: ReconcileProgress | None = None) -> list[ReconcileReport]:
        """Check every counter; with `fix`, repair those that have drifted."""
        reports = [await self._check(counter, fix=fix, progress=progress) for counter in self._counters]
        for report in reports:
            log.info(
                "counts.reconciled",
                counter=report.counter,
                checked=report.checked,
                drifted=report.drifted,
                repaired=report.repaired,
                unsettled=report.unsettled,
            )
        return reports

    async def _check(
        self, counter: ReconciledCounter, *, fix: bool, progress: ReconcileProgress | None
    ) -> ReconcileReport:
        report = ReconcileReport(counter.name)
        numbers = sorted(self._shards.map.owners)
        for done, number in enumerate(numbers, start=1):
            await self._check_shard(counter, self._shards.shard(number), report, fix=fix)
            if progress is not None:
                progress(counter.name, done, len(numbers))
        return report

    async def _check_shard(
        self, counter: ReconciledCounter, shard: Shard, report: ReconcileReport, *, fix: bool
    ) -> None:
        after = 0
        while rows := await shard.fetch(counter.scan, after=after, limit=BATCH):
            after = rows[-1]["id"]
            report.checked += len(rows)
            wrong = [row for row in rows if row["stored"] != row["counted"]]
            unsettled = (
                await counter.find_unsettled([row["id"] for row in wrong])
                if counter.find_unsettled and wrong
                else set[int]()
            )
            for row in wrong:
                if row["id"] in unsettled:
                    report.unsettled += 1
                    continue
                await self._record_drift(
                    counter, shard, report, (row["id"], row["stored"], row["counted"]), fix=fix
                )
            await asyncio.sleep(PAUSE_S)

    async def _record_drift(
        self,
        counter: ReconciledCounter,
        shard: Shard,
        report: ReconcileReport,
        found: tuple[int, int, int],
        *,
        fix: bool,
    ) -> None:
        each, stored, counted = found
        report.drifted += 1
        if len(report.examples) < MAX_EXAMPLES:
            report.examples.append({"id": each, "stored": stored, "counted": counted})
        is_repaired = fix and await self._repair(counter, shard, each)
        report.repaired += is_repaired
        count_drifts.labels(counter.name, "repaired" if is_repaired else "found").inc()
        log.warning(
            "count.drifted",
            counter=counter.name,
            id=each,
            stored=stored,
            counted=counted,
            is_repaired=is_repaired,
        )

    async def _repair(self, counter: ReconciledCounter, shard: Shard, each: int) -> bool:
        """Count again under the lock of the row, in a separate statement: it sees all that committed before."""
        async with shard.begin() as tx:
            if await tx.fetch_one(counter.lock, id=each) is None:
                return False
            counted = await tx.fetch_value(counter.recount, id=each)
            # Checked last: whatever the recount saw was marked hot before it committed.
            if counter.find_unsettled and each in await counter.find_unsettled([each]):
                return False
            await tx.execute(counter.store, id=each, count=counted)
        if counter.on_repaired is not None:
            await counter.on_repaired(each)
        return True
