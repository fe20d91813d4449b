"""What 2,000 stalled connections cost those who are served meanwhile: the p99 of feed reads without them, over with.

The stalled connections are of four kinds (silent, half a head, half a body, answers that nobody reads) and come from
sixteen addresses. Phases with and without them alternate on one web process with the default settings. A phase with
them lasts until the server has ended them all, as its timeouts say; 0.5 would mean that a read takes twice as long
meanwhile. The median, the p95 and the p99 of both phases are printed, and how many times as long they are.
"""

import asyncio
import time
from collections.abc import Callable

from bench.harness import BenchResult, Rounds, main, percentile
from bench.http_load import Call, send_all
from bench.populated_installation import PopulatedInstallation, populated_installation
from bench.site_processes import engines
from bench.stalled_connections import StalledConnections

NAME = "connections"
PEOPLE, VIEWERS = 300, 16
STALLED = 2_000
READS, CLIENTS = 500, 2
"""Reads between two looks at whether a phase is over."""
QUIET_S = 10
SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
HEADLINE = "p99"


def run(*, quick: bool = False) -> BenchResult:
    """Measure with alternating rounds."""
    return asyncio.run(_run(rounds=2 if quick else 8))


async def _run(rounds: int) -> BenchResult:
    quiet: list[list[float]] = []
    stalled: list[list[float]] = []
    async with engines(servers=2) as (found, _), populated_installation(found, PEOPLE, VIEWERS) as site:
        for _ in range(rounds):
            await _read(site, READS)
            over_at = time.monotonic() + QUIET_S
            quiet.append(await _read_until(site, lambda over_at=over_at: time.monotonic() >= over_at))
            with StalledConnections(site.port, STALLED) as held:
                await asyncio.to_thread(held.open)
                stalled.append(await _read_until(site, lambda held=held: held.count_ended() == STALLED))
    return _result(quiet, stalled)


def _result(quiet: list[list[float]], stalled: list[list[float]]) -> BenchResult:
    detail: dict[str, object] = {}
    measured = {name: _rates(quiet, stalled, share) for name, share in SHARES.items()}
    for name, rates in measured.items():
        times = {phase: round(1_000 / rates.median(phase), 2) for phase in ("quiet", "stalled")}
        slower = rates.ratio("quiet", "stalled")
        detail[name] = {f"{phase}_ms": took for phase, took in times.items()} | {"times_as_long": str(slower)}
        print(f"{name}: quiet {times['quiet']} ms, stalled {times['stalled']} ms, {slower} as long")
    headline = measured[HEADLINE].ratio("stalled", "quiet")
    against = f"of the speed without {STALLED} stalled connections ({HEADLINE})"
    return BenchResult(NAME, headline.median, against, (headline.low, headline.high), detail)


def _rates(quiet: list[list[float]], stalled: list[list[float]], share: float) -> Rounds:
    """How many reads a second that percentile of every round stands for."""
    phases = {"quiet": quiet, "stalled": stalled}
    return Rounds({name: [1 / percentile(took, share) for took in rounds] for name, rounds in phases.items()})


async def _read_until(site: PopulatedInstallation, is_over: Callable[[], bool]) -> list[float]:
    took: list[float] = []
    while not is_over():
        took += await _read(site, READS)
    return took


async def _read(site: PopulatedInstallation, reads: int) -> list[float]:
    """How long each of so many feed reads took, in seconds; each of them must succeed."""
    calls = [Call("GET", "/api/v1/feed", site.tokens[number % len(site.tokens)]) for number in range(reads)]
    return await send_all(site.port, calls, clients=CLIENTS)


if __name__ == "__main__":
    main(run, __doc__)
