"""What a like, a comment, a follow, a profile and a new post cost, compared with the same site in plain Django.

Ours: one web process, worker, one PostgreSQL with 16 shards, Redis, NATS; every write also goes into the outbox and
through the worker, and all of it is counted. Peer: Django with one web process and one PostgreSQL
(`bench/peers/django_social`), written fairly. Both get the same calls, in turn; targets are Zipf-distributed. The ratio
is CPU time per request, the peer's over ours.
"""

import asyncio
import json
import random
import re
import statistics
import time
from collections.abc import Callable
from urllib.request import urlopen

from bench.harness import BenchResult, main
from bench.http_load import Call, send_all
from bench.social_sites import Site, both_sites

NAME = "social"
CLIENTS = 8
SKEW = 1.1
WARM_UP = READS = 5_000
Make = Callable[[Site, random.Random, int], Call]


def run(*, quick: bool = False) -> BenchResult:
    """Measure both sites, operation by operation."""
    people, calls, rounds = (150, 150, 2) if quick else (400, 400, 4)
    return asyncio.run(_measure(people, calls, rounds))


async def _measure(people: int, calls: int, rounds: int) -> BenchResult:
    ratios: dict[str, list[float]] = {}
    cost: dict[str, dict[str, list[float]]] = {}
    needed = -(-calls * rounds // people) + 1
    async with both_sites(people, needed) as (ours, peer):
        for number in range(rounds):
            for name, make in OPERATIONS.items():
                sites = {"ours": ours, "peer": peer}
                spent = {
                    site: await _spend(sites[site], make, calls, number)
                    for site in (("ours", "peer") if number % 2 else ("peer", "ours"))
                }
                total = {site: sum(parts.values()) for site, (parts, _) in spent.items()}
                ratios.setdefault(name, []).append(total["peer"] / total["ours"])
                for site, (parts, rate) in spent.items():
                    noted = {"CPU-ms": total[site], "requests/s": rate, **parts}
                    for label, value in noted.items():
                        cost.setdefault(name, {}).setdefault(f"{site} {label}", []).append(value)
                parts = ", ".join(f"{part} {value:.1f}" for part, value in spent["ours"][0].items())
                print(f"{name}: ours {total['ours']:.1f} CPU-ms ({parts}), peer {total['peer']:.1f}")
        hits = await _hit_rate(ours, READS)
    every = [ratio for each in ratios.values() for ratio in each]
    return BenchResult(
        name=NAME,
        ratio=statistics.geometric_mean(statistics.median(each) for each in ratios.values()),
        against="plain Django on one PostgreSQL, CPU per request, all processes counted",
        spread=(min(every), max(every)),
        detail={
            "ratio by operation": {name: round(statistics.median(each), 2) for name, each in ratios.items()},
            "medians": {
                name: {label: round(statistics.median(values), 2) for label, values in labels.items()}
                for name, labels in cost.items()
            },
            "cache hit rate": hits,
        },
    )


async def _spend(site: Site, make: Make, count: int, number: int) -> tuple[dict[str, float], float]:
    """CPU-ms per request of each process, and requests per second."""
    chance = random.Random(number)
    calls = [make(site, chance, number * count + each) for each in range(count)]
    before, started = site.cpu_s(), time.perf_counter()
    await send_all(site.port, calls, clients=CLIENTS)
    elapsed = time.perf_counter() - started
    await asyncio.sleep(1.0)  # what must follow a write is part of its cost
    after = site.cpu_s()
    return {part: (after[part] - before[part]) * 1000 / count for part in after}, count / elapsed


def _popular(chance: random.Random, count: int) -> int:
    """An index into a list, Zipf-distributed: the first ones far more often."""
    return min(int(count ** chance.random() ** SKEW) - 1, count - 1)


def _like(site: Site, chance: random.Random, _: int) -> Call:
    post = site.posts[_popular(chance, len(site.posts))]
    return Call("PUT", f"/api/v1/posts/{post}/like", chance.choice(site.tokens))


def _comment(site: Site, chance: random.Random, number: int) -> Call:
    post = site.posts[_popular(chance, len(site.posts))]
    body = json.dumps({"text": f"words for number {number}"}).encode()
    return Call("POST", f"/api/v1/posts/{post}/comments", site.tokens[number % len(site.tokens)], body)


def _follow(site: Site, chance: random.Random, _: int) -> Call:
    me = chance.randrange(len(site.tokens))
    other = _popular(chance, len(site.accounts))
    other = other if other != me else (other + 1) % len(site.accounts)
    return Call("PUT", f"/api/v1/accounts/{site.accounts[other]}/follow", site.tokens[me])


def _profile(site: Site, chance: random.Random, _: int) -> Call:
    name = site.usernames[_popular(chance, len(site.usernames))]
    return Call("GET", f"/api/v1/profiles/{name}", chance.choice(site.tokens))


def _post(site: Site, _chance: random.Random, number: int) -> Call:
    me = number % len(site.tokens)
    body = json.dumps({"media_ids": [site.media[me].pop()], "caption": "a new post"}).encode()
    return Call("POST", "/api/v1/posts", site.tokens[me], body)


OPERATIONS: dict[str, Make] = {
    "like": _like,
    "comment": _comment,
    "follow": _follow,
    "profile": _profile,
    "post": _post,
}


async def _hit_rate(site: Site, count: int) -> dict[str, float]:
    """Cache hit rate of each kind of object under a read load: a hundred reads per like."""
    chance = random.Random(0)
    calls = [(_like if each % 100 == 0 else _profile)(site, chance, each) for each in range(WARM_UP + count)]
    await send_all(site.port, calls[:WARM_UP], clients=CLIENTS)
    before = _cache_reads(site.metrics_port)
    await send_all(site.port, calls[WARM_UP:], clients=CLIENTS)
    after = _cache_reads(site.metrics_port)
    reads = {
        kind: {outcome: value - before.get(kind, {}).get(outcome, 0) for outcome, value in each.items()}
        for kind, each in after.items()
    }
    return {
        kind: round(each.get("hit", 0) / sum(each.values()), 4)
        for kind, each in reads.items()
        if sum(each.values())
    }


def _cache_reads(port: int) -> dict[str, dict[str, float]]:
    text = urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()
    counted: dict[str, dict[str, float]] = {}
    found = re.findall(r'tintype_cache_reads_total\{kind="(\w+)",outcome="(\w+)"\} ([\d.e+]+)', text)
    for kind, outcome, value in found:
        counted.setdefault(kind, {})[outcome] = float(value)
    return counted


if __name__ == "__main__":
    main(run, __doc__)
