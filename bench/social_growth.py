"""Whether a write stays as cheap as it is when the site grows: from 1,000 to 100,000 people, from 16 to 2,000 shards.

Installations of each size run side by side, each with its own servers, web process and worker, and take turns: the same
likes, follows, comments, posts and profiles over HTTP, by people and on targets spread over the whole installation.
Measured is CPU time of all processes per request until nothing is left to do. The ratio is the cost in the smallest
installation over that in the larger ones, the worst of all operations and sizes: 1 is flat. Creating 2,000 shards takes
most of the time; `--shards 256` is a quicker look, and `--people` chooses another number of people.
"""

import argparse
import asyncio
import statistics
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from bench.harness import BenchResult, Ratio, main, ratio_of
from bench.populated_installation import PASSWORD, installation, populate, spread
from bench.site_processes import engines
from bench.social_calls import OPERATIONS, make_calls
from bench.social_costs import Cost, cost_table, measure_cost, median_cost
from bench.social_sites import Site, running_site
from shardwright.routing import Queries
from tintype.base.ids import AccountId
from tintype.simulation import BulkFill
from tintype.wiring import Rooms

NAME = "social-growth"
CLIENTS = 8
WARM_UP_ROUNDS = 2
"""Not counted: they open connections, fill caches and prepare statements."""
PEOPLE, SHARDS = 1_000, 16
QUERIES = Queries.parse("""
-- name: find_posts
SELECT id FROM posts WHERE author_id = :author_id ORDER BY id LIMIT 2;
""")


@dataclass(frozen=True)
class Size:
    """How large an installation is."""

    people: int
    shards: int

    def __str__(self) -> str:
        return f"{self.people:,} people, {self.shards:,} shards"


Costs = dict[tuple[str, Size], list[Cost]]
"""By operation and size, round by round."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options of this bench."""
    parser.add_argument("--people", type=int, default=100_000, help="how many people the site grows to")
    parser.add_argument("--shards", type=int, default=2_000, help="how many shards the site grows to")


def run(*, quick: bool = False, people: int = 100_000, shards: int = 2_000) -> BenchResult:
    """Measure every size, interleaved."""
    if quick:
        sizes, actors, calls, rounds = [Size(200, 4), Size(2_000, 4), Size(200, 16)], 50, 50, 2
    else:
        grown = [Size(people, SHARDS), Size(PEOPLE, shards)]
        sizes, actors, calls, rounds = [Size(PEOPLE, SHARDS), *grown], 400, 400, 4
    return asyncio.run(_measure(sizes, actors, calls, rounds))


async def _measure(sizes: Sequence[Size], actors: int, calls: int, rounds: int) -> BenchResult:
    costs: Costs = {}
    async with AsyncExitStack() as stack:
        sites: dict[Size, Site] = {}
        for size in sizes:
            sites[size] = await stack.enter_async_context(
                _grown_site(size, actors, calls * (WARM_UP_ROUNDS + rounds))
            )
            await sites[size].wait_until_done()
            print(f"{size}: created")
        for number in range(WARM_UP_ROUNDS + rounds):
            first = number % len(sizes)
            for size in (*sizes[first:], *sizes[:first]):
                for operation in OPERATIONS:
                    made = make_calls(operation, sites[size], calls, number)
                    cost = await measure_cost(sites[size], made, clients=CLIENTS)
                    if number >= WARM_UP_ROUNDS:
                        costs.setdefault((operation, size), []).append(cost)
    return _result(sizes, costs)


@asynccontextmanager
async def _grown_site(size: Size, actors: int, posts: int) -> AsyncGenerator[Site]:
    """An installation of this size, some of whose people have session tokens and photos yet to be posted."""
    async with engines() as (found, parts), installation(found, "grown", shards=size.shards) as rooms:
        everyone, ids = await populate(rooms, size.people)
        async with running_site(rooms.settings, parts) as site:
            chosen = spread([person.number for person in everyone], actors)
            for number in chosen:
                signed_in = await rooms.authentication.sign_in(f"sim_{number}", PASSWORD)
                site.tokens.append(signed_in.token)
                site.usernames.append(f"sim_{number}")
            await _choose_targets(rooms, site, [ids[number] for number in chosen], posts)
            yield site


async def _choose_targets(rooms: Rooms, site: Site, chosen: Sequence[AccountId], posts: int) -> None:
    each = -(-posts // len(chosen)) + 1
    media = await BulkFill(rooms.shards).add_pictures(one for one in chosen for _ in range(each))
    for number, account_id in enumerate(chosen):
        site.accounts.append(str(account_id))
        site.media[number] = [str(one) for one in media[account_id]]
        rows = await rooms.shards.owner(account_id).fetch(QUERIES.find_posts, author_id=account_id)
        site.posts += [str(row["id"]) for row in rows]


def _result(sizes: Sequence[Size], costs: Costs) -> BenchResult:
    smallest = sizes[0]
    ratios = {
        (operation, size): _ratio(costs[operation, smallest], costs[operation, size])
        for operation in OPERATIONS
        for size in sizes[1:]
    }
    medians = {key: median_cost(each) for key, each in costs.items()}
    rows = {
        (operation, str(size)): (
            medians[operation, size],
            str(ratios[operation, size]) if size != smallest else "",
        )
        for operation in OPERATIONS
        for size in sizes
    }
    print(cost_table(f"CPU-ms, {CLIENTS} clients", rows))
    worst = min(ratios.values(), key=lambda each: each.median)
    return BenchResult(
        name=NAME,
        ratio=worst.median,
        against=f"cost of a request with {smallest} over that in larger installations, the worst; 1 is flat",
        spread=(worst.low, worst.high),
        detail={
            str(size): {
                operation: {
                    "CPU-ms": round(medians[operation, size].total, 2),
                    **{part: round(value, 2) for part, value in medians[operation, size].parts.items()},
                }
                for operation in OPERATIONS
            }
            for size in sizes
        }
        | {
            "geometric mean by size": {
                str(size): round(
                    statistics.geometric_mean(ratios[operation, size].median for operation in OPERATIONS), 2
                )
                for size in sizes[1:]
            }
        },
    )


def _ratio(small: Sequence[Cost], large: Sequence[Cost]) -> Ratio:
    return ratio_of([mine.total / other.total for mine, other in zip(small, large, strict=True)])


if __name__ == "__main__":
    main(run, __doc__, add_options)
