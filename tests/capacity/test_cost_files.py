"""Costs come from the package, from a file, or from what a bench printed."""

import json

import pytest

from bench.social_calls import OPERATIONS
from bench.social_costs import PARTS
from tintype.capacity import CostsInvalid, default_costs, read_costs

BASE = default_costs()


def test_a_file_overrides_what_it_has_and_leaves_the_rest() -> None:
    costs = read_costs("renditions_mb = 2\n[like]\nweb = 9.5\n", BASE, source="costs.toml")

    assert (costs.like.web, costs.like.postgres) == (9.5, BASE.like.postgres)
    assert costs.renditions_mb == 2
    assert costs.follow == BASE.follow


def test_what_bench_social_prints_is_taken_process_by_process() -> None:
    medians = {name: {f"ours {part}": 1.5 for part in PARTS} | {"ours CPU-ms": 7.5} for name in OPERATIONS}
    printed = "warm-up\nround 1 of 4\n" + json.dumps({"name": "social", "detail": {"medians": medians}})

    costs = read_costs(printed, BASE, source="social.json")

    for name in ("like", "follow", "comment", "post", "page"):
        cost = getattr(costs, name)
        assert (cost.web, cost.worker, cost.postgres, cost.redis, cost.nats) == (1.5,) * 5
    assert costs.upload == BASE.upload


def test_what_bench_feed_prints_is_taken_for_reads() -> None:
    medians = {
        "ours 8 web CPU-ms": 0.1,
        "ours 8 all CPU-ms": 0.15,
        "news 8 web CPU-ms": 0.4,
        "news 8 all CPU-ms": 0.5,
    }
    costs = read_costs(json.dumps({"name": "feed", "detail": {"medians": medians}}), BASE, source="feed.json")

    assert (costs.read.web, costs.read_news.web) == (0.1, 0.4)
    assert costs.read_news.redis == pytest.approx(0.1)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"name": "ids", "detail": {}}',
        "[like]\nweb = -1\n",
        "[like]\nnginx = 1\n",
        "[likes]\nweb = 1\n",
        "like = 3\n",
    ],
)
def test_a_file_that_is_none_of_these_is_refused_by_its_name(text: str) -> None:
    with pytest.raises(CostsInvalid, match=r"mine\.toml"):
        read_costs(text, BASE, source="mine.toml")
