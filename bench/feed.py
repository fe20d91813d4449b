"""What a read of the home feed costs, compared with a pull-only feed, the same site in Django, and bare engines.

Each reader follows 100 authors of whom 10 are celebrities; pages have 20 posts with author, photo, counters and the
reader's likes and saves. Ours: one web process, one PostgreSQL with 16 shards, Valkey; once as most reads are, with
nothing new since the last one, and once with news before every read ("news"): its timeline is written, with the posts
that it had, and the reader likes a post or no longer does, so that timeline and page are built again each time; their
order is good for five seconds. Pull-only: the same rooms on the same shards, but every read fetches the newest posts of
everybody followed. Django: one process of eight threads, one PostgreSQL, ORM, indexes, persistent connections. Engines:
what ours sends to Redis and PostgreSQL after the first news, which make it read the viewer's state, sent by a bare
socket and by pgbench; they render nothing, so this is a floor. Contenders are interleaved; the ratio is CPU time of all
processes per read at eight clients, Django's over ours.
"""

import asyncio
import random
import statistics
import time
from collections.abc import Callable

from bench.feed_dataset import plan_dataset
from bench.feed_replay import postgres_s, redis_s
from bench.feed_sites import Sites, open_sites
from bench.harness import BenchResult, main, percentile
from bench.http_load import Before, Call, send_all
from bench.site_processes import cpu_s
from bench.social_sites import Site

NAME = "feed"
CLIENTS = (1, 8, 32)
JUDGED_AT = 8
Samples = dict[str, list[float]]


def run(*, quick: bool = False) -> BenchResult:
    """Measure all contenders."""
    readers, posts_each, calls, rounds = (6, 2, 120, 2) if quick else (32, 6, 600, 5)
    return asyncio.run(_measure(readers, posts_each, calls, rounds))


async def _measure(readers: int, posts_each: int, calls: int, rounds: int) -> BenchResult:
    samples: Samples = {}
    async with open_sites(plan_dataset(readers, posts_each)) as sites:
        served: dict[str, tuple[Site, Before | None]] = {
            "ours": (sites.ours, None),
            "news": (sites.ours, sites.invalidate_before_read),
            "pull": (sites.pull, None),
            "django": (sites.django, None),
        }
        for site, before in served.values():
            await _read(site, 2 * readers + 50, 4, 0, before)
        for number in range(rounds):
            names = [*served, "engines"]
            for name in names[number % len(names) :] + names[: number % len(names)]:
                if name == "engines":
                    _measure_engines(samples, sites, calls)
                else:
                    await _measure_site(samples, name, *served[name], calls=calls, number=number)
            print(f"round {number + 1} of {rounds}: {_summary(samples, -1)}")
    return _result(samples)


async def _measure_site(
    samples: Samples, name: str, site: Site, before: Before | None, *, calls: int, number: int
) -> None:
    for clients in CLIENTS:
        count = calls if name != "django" else calls // 3
        spent, took, elapsed = await _read(site, count, clients, number, before)
        label = f"{name} {clients}"
        values = {
            "web CPU-ms": spent["web"] * 1000 / count,
            "all CPU-ms": sum(spent.values()) * 1000 / count,
            "reads/s": count / elapsed,
            "reads per web CPU-s": count / spent["web"],
            "p50 ms": percentile(took, 0.50) * 1000,
            "p99 ms": percentile(took, 0.99) * 1000,
        }
        for what, value in values.items():
            samples.setdefault(f"{label} {what}", []).append(value)


async def _read(
    site: Site, count: int, clients: int, number: int, before: Before | None
) -> tuple[dict[str, float], list[float], float]:
    chance = random.Random(number)
    calls = [Call("GET", "/api/v1/feed", chance.choice(site.tokens)) for _ in range(count)]
    spent, started = site.cpu_s(), time.perf_counter()
    took = await send_all(site.port, calls, clients=clients, before=before)
    elapsed, after = time.perf_counter() - started, site.cpu_s()
    return {part: after[part] - spent[part] for part in after}, took, elapsed


def _measure_engines(samples: Samples, sites: Sites, count: int) -> None:
    settings, parts = sites.settings, sites.ours.parts
    clients: list[tuple[str, str, Callable[[], float]]] = [
        ("valkey", "redis", lambda: redis_s(settings.redis, sites.recorded, count)),
        ("postgres", "postgres", lambda: postgres_s(settings.postgres[0], sites.recorded, count)),
    ]
    total = 0.0
    for part, label, measure in clients:
        before = cpu_s(*parts[part])
        client_s = measure()
        server_s = cpu_s(*parts[part]) - before
        total += client_s + server_s
        samples.setdefault(f"engines {label} client CPU-ms", []).append(client_s * 1000 / count)
        samples.setdefault(f"engines {label} server CPU-ms", []).append(server_s * 1000 / count)
    samples.setdefault("engines all CPU-ms", []).append(total * 1000 / count)


def _result(samples: Samples) -> BenchResult:
    at = f"{JUDGED_AT} all CPU-ms"
    ratios = {
        label: [theirs / mine for theirs, mine in zip(samples[peer], samples[ours], strict=True)]
        for label, peer, ours in (
            ("django", f"django {at}", f"ours {at}"),
            ("django, with news", f"django {at}", f"news {at}"),
            ("pull-only", f"pull {at}", f"ours {at}"),
            ("pull-only, with news", f"pull {at}", f"news {at}"),
            ("bare engines, with news", "engines all CPU-ms", f"news {at}"),
        )
    }
    django = ratios["django"]
    return BenchResult(
        name=NAME,
        ratio=statistics.median(django),
        against="a conventional Django feed, CPU of all processes per read",
        spread=(min(django), max(django)),
        detail={
            "CPU of all processes, peer over ours": {
                peer: [round(f(each), 2) for f in (statistics.median, min, max)]
                for peer, each in ratios.items()
            },
            "medians": {what: round(statistics.median(values), 3) for what, values in samples.items()},
        },
    )


def _summary(samples: Samples, index: int) -> str:
    at = JUDGED_AT
    return (
        f"ours {samples[f'ours {at} web CPU-ms'][index]:.2f} CPU-ms in the web process, "
        f"{samples[f'ours {at} all CPU-ms'][index]:.2f} in all; with news "
        f"{samples[f'news {at} web CPU-ms'][index]:.2f} and {samples[f'news {at} all CPU-ms'][index]:.2f}; "
        f"pull-only {samples[f'pull {at} all CPU-ms'][index]:.2f}, "
        f"Django {samples[f'django {at} all CPU-ms'][index]:.2f}, "
        f"bare engines {samples['engines all CPU-ms'][index]:.2f}"
    )


if __name__ == "__main__":
    main(run, __doc__)
