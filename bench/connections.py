"""What 2,000 stalled connections cost those who are served meanwhile: the p50 of feed reads without them, over with.

The stalled connections are of four kinds (silent, half a head, half a body, answers that nobody reads) and come from
sixteen addresses. Rounds with and without them alternate on one web process with the default settings, which holds some
of them open and ends the others; 0.5 would mean that a read takes twice as long meanwhile.
"""

import asyncio
import statistics

from bench.harness import BenchResult, Rounds, main
from bench.http_load import Call, send_all
from bench.populated_installation import PopulatedInstallation, engines, populated_installation
from bench.stalled_connections import StalledConnections

NAME = "connections"
PEOPLE, VIEWERS = 300, 16
STALLED = 2_000
READS, CLIENTS = 400, 2


def run(*, quick: bool = False) -> BenchResult:
    """Measure with alternating rounds."""
    return asyncio.run(_run(rounds=3 if quick else 10))


async def _run(rounds: int) -> BenchResult:
    quiet: list[float] = []
    crowded: list[float] = []
    ended: list[int] = []
    async with engines() as (found, _), populated_installation(found, PEOPLE, VIEWERS) as site:
        await _read(site)
        for _ in range(rounds):
            quiet.append(1 / await _read(site))
            with StalledConnections(site.port, STALLED) as stalled:
                await asyncio.to_thread(stalled.open)
                crowded.append(1 / await _read(site))
                ended.append(stalled.count_ended())
    measured = Rounds({"crowded": crowded, "quiet": quiet})
    ratio = measured.ratio("crowded", "quiet")
    detail = {
        "p50_ms_quiet": round(1000 / measured.median("quiet"), 2),
        "p50_ms_crowded": round(1000 / measured.median("crowded"), 2),
        "ended_at_the_end_of_a_round": statistics.median(ended),
    }
    return BenchResult(
        NAME,
        ratio.median,
        f"of the speed without {STALLED} stalled connections",
        (ratio.low, ratio.high),
        detail,
    )


async def _read(site: PopulatedInstallation) -> float:
    """The median time of feed reads, in seconds; each of them must succeed."""
    calls = [Call("GET", "/api/v1/feed", site.tokens[number % len(site.tokens)]) for number in range(READS)]
    return statistics.median(await send_all(site.port, calls, clients=CLIENTS))


if __name__ == "__main__":
    main(run, __doc__)
