"""What a like, a follow, a comment, a new post and a profile cost, compared with the same site in Django, twice.

Ours: one web process, one worker, one PostgreSQL with 16 shards, Valkey, NATS. Plain Django: one web process and one
PostgreSQL, and nothing follows from a write: nobody is notified. Django with Celery: the same, and a worker on Valkey
does what ours does after a write: notifications, grouped and counted, the follower mirror, search entries, timelines
(`bench/peers/django_social`). All get the same calls, in turn; targets are Zipf-distributed. Measured is CPU time of
all processes per request, from the first request until nothing is left to do: no event in the outbox or the stream, no
task in Celery's queue or running. The ratio is a peer's cost over ours: above 1, ours is cheaper. `--clients 64` for
more requests at once.
"""

import argparse
import asyncio
import statistics
from typing import Any

from bench.cache_hit_rate import measure_hit_rate
from bench.harness import BenchResult, Ratio, main, ratio_of
from bench.social_calls import OPERATIONS, make_calls
from bench.social_costs import Cost, cost_table, measure_cost, median_cost
from bench.social_sites import FULL, OURS, PLAIN, Site, all_sites

NAME = "social"
CLIENTS = 8
WARM_UP_ROUNDS = 2
"""Not counted: they open connections, fill caches and prepare statements, ours on every shard and connection."""
PEERS = (PLAIN, FULL)
Costs = dict[tuple[str, str], list[Cost]]
"""By operation and contender, round by round."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options of this bench."""
    parser.add_argument(
        "--clients", type=int, default=CLIENTS, help="requests at once (default: %(default)s)"
    )


def run(*, quick: bool = False, clients: int = CLIENTS) -> BenchResult:
    """Measure all sites, operation by operation."""
    people, calls, rounds = (100, 100, 2) if quick else (400, max(400, 16 * clients), 4)
    return asyncio.run(_measure(people, calls, rounds, clients))


async def _measure(people: int, calls: int, rounds: int, clients: int) -> BenchResult:
    costs: Costs = {}
    needed = -(-calls * (WARM_UP_ROUNDS + rounds) // people) + 1
    async with all_sites(people, needed) as sites:
        for number in range(WARM_UP_ROUNDS + rounds):
            is_counted = number >= WARM_UP_ROUNDS
            for operation in OPERATIONS:
                measured = await _round(sites, operation, calls, number, clients)
                for name, cost in measured.items() if is_counted else ():
                    costs.setdefault((operation, name), []).append(cost)
            print(f"round {number - WARM_UP_ROUNDS + 1} of {rounds}" if is_counted else "warm-up")
        hits = await measure_hit_rate(sites[OURS], clients=clients)
    return _result(costs, clients, hits)


async def _round(
    sites: dict[str, Site], operation: str, calls: int, number: int, clients: int
) -> dict[str, Cost]:
    """Measure one operation on every site; each round begins with another site."""
    names = list(sites)
    first = number % len(names)
    return {
        name: await measure_cost(
            sites[name], make_calls(operation, sites[name], calls, number), clients=clients
        )
        for name in names[first:] + names[:first]
    }


def _result(costs: Costs, clients: int, hits: dict[str, float]) -> BenchResult:
    ratios = {peer: {operation: _ratio(costs, operation, peer) for operation in OPERATIONS} for peer in PEERS}
    medians = {key: median_cost(each) for key, each in costs.items()}
    rows = {
        (operation, name): (medians[operation, name], str(ratios[name][operation]) if name in PEERS else "")
        for operation in OPERATIONS
        for name in (OURS, *PEERS)
    }
    print(cost_table(f"CPU-ms, {clients} clients", rows))
    every = [bound for each in ratios[PLAIN].values() for bound in (each.low, each.high)]
    return BenchResult(
        name=NAME,
        ratio=statistics.geometric_mean(each.median for each in ratios[PLAIN].values()),
        against="plain Django on one PostgreSQL, CPU per request, all processes counted",
        spread=(min(every), max(every)),
        detail={
            "clients": clients,
            "ratio by operation": _medians(ratios[PLAIN]),
            "ratio by operation, Django with Celery": _medians(ratios[FULL]),
            "medians": {operation: _described(medians, operation) for operation in OPERATIONS},
            "cache hit rate": hits,
        },
    )


def _ratio(costs: Costs, operation: str, peer: str) -> Ratio:
    theirs, mine = costs[operation, peer], costs[operation, OURS]
    return ratio_of([their.total / our.total for their, our in zip(theirs, mine, strict=True)])


def _medians(ratios: dict[str, Ratio]) -> dict[str, float]:
    return {operation: round(each.median, 2) for operation, each in ratios.items()}


def _described(medians: dict[tuple[str, str], Cost], operation: str) -> dict[str, Any]:
    """CPU-ms and requests per second of each contender, by process."""
    found: dict[str, Any] = {}
    for name in (OURS, *PEERS):
        cost = medians[operation, name]
        values = {"CPU-ms": cost.total, "requests/s": cost.rate, **cost.parts}
        found |= {f"{name} {label}": round(value, 2) for label, value in values.items()}
    return found


if __name__ == "__main__":
    main(run, __doc__, add_options)
