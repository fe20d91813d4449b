"""How many reads of each kind of object our web process serves from its cache, under a read load."""

import random
import re
from urllib.request import urlopen

from bench.http_load import send_all
from bench.social_calls import like, profile
from bench.social_sites import Site

READS = 5_000
READS_PER_LIKE = 100


async def measure_hit_rate(site: Site, *, clients: int, reads: int = READS) -> dict[str, float]:
    """Cache hit rate by kind of object with a like among a hundred reads, after as many reads to warm up."""
    chance = random.Random(0)
    calls = [
        (like if each % READS_PER_LIKE == 0 else profile)(site, chance, each) for each in range(2 * reads)
    ]
    await send_all(site.port, calls[:reads], clients=clients)
    before = _cache_reads(site.metrics_port)
    await send_all(site.port, calls[reads:], clients=clients)
    after = _cache_reads(site.metrics_port)
    counted = {
        kind: {outcome: value - before.get(kind, {}).get(outcome, 0) for outcome, value in each.items()}
        for kind, each in after.items()
    }
    return {
        kind: round(each.get("hit", 0) / sum(each.values()), 4)
        for kind, each in counted.items()
        if sum(each.values())
    }


def _cache_reads(port: int) -> dict[str, dict[str, float]]:
    text = urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()
    counted: dict[str, dict[str, float]] = {}
    found = re.findall(r'tintype_cache_reads_total\{kind="(\w+)",outcome="(\w+)"\} ([\d.e+]+)', text)
    for kind, outcome, value in found:
        counted.setdefault(kind, {})[outcome] = float(value)
    return counted
