"""What a request costs: CPU time of every process until nothing is left to do, and a table of it."""

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.http_load import Call, send_all
from bench.social_sites import Site
from bench.tables import format_table

PARTS = ("postgres", "web", "worker", "nats", "valkey")


@dataclass(frozen=True)
class Cost:
    """CPU-ms per request by process, and requests per second."""

    parts: Mapping[str, float]
    rate: float

    @property
    def total(self) -> float:
        """CPU-ms per request of all processes."""
        return sum(self.parts.values())


async def measure_cost(site: Site, calls: Sequence[Call], *, clients: int) -> Cost:
    """Send the calls, wait until nothing is left to do, and return what that cost per call."""
    before, started = site.cpu_s(), time.perf_counter()
    await send_all(site.port, calls, clients=clients)
    elapsed = time.perf_counter() - started
    await site.wait_until_done()
    after = site.cpu_s()
    parts = {part: (after[part] - before[part]) * 1000 / len(calls) for part in after}
    return Cost(parts, len(calls) / elapsed)


def median_cost(costs: Sequence[Cost]) -> Cost:
    """The median of each process and of the rate."""
    parts = {part: statistics.median(each.parts[part] for each in costs) for part in costs[0].parts}
    return Cost(parts, statistics.median(each.rate for each in costs))


def cost_row(cost: Cost) -> list[str]:
    """CPU-ms of all processes, and of each; a dash where the contender has no such process."""
    parts = [f"{cost.parts[part]:.2f}" if part in cost.parts else "-" for part in PARTS]
    return [f"{cost.total:.2f}", *parts]


def cost_table(title: str, rows: Mapping[tuple[str, str], tuple[Cost, str]]) -> str:
    """A table of CPU-ms per request; rows are operation and contender, with their ratio as text."""
    head = [title, "", "all", *PARTS, "ratio"]
    return format_table(head, [[*key, *cost_row(cost), ratio] for key, (cost, ratio) in rows.items()])
