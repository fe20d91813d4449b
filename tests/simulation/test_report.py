import xml.etree.ElementTree as ET
from typing import Any

import msgspec
import pytest

from tintype.simulation import (
    NEVER,
    Distribution,
    SimulationOptions,
    SimulationReport,
    ThresholdOutcome,
    distribution_of,
    name_of,
    recommendation_text,
    render_svg,
    render_text,
)

FAST = Distribution(100, 5.0, 10.0, 20.0, 30.0)


def outcome(threshold: int, **changes: Any) -> ThresholdOutcome:
    made = ThresholdOutcome(
        threshold=threshold,
        posts=100,
        reads=900,
        failed=0,
        stars=3,
        read_ms=FAST,
        fresh_ms=FAST,
        unseen=0,
        late_ms=FAST,
        entries=1_000,
        cpu_s={"rooms": 1.0, "worker": 0.5, "redis": 0.5},
    )
    return msgspec.structs.replace(made, **changes)


def costing(threshold: int, cpu_s: float, **changes: Any) -> ThresholdOutcome:
    return outcome(threshold, cpu_s={"rooms": cpu_s}, **changes)


def test_percentiles_are_taken_by_nearest_rank() -> None:
    found = distribution_of([float(value) for value in range(100, 0, -1)])

    assert (found.count, found.p50, found.p90, found.p99, found.max) == (100, 51, 91, 100, 100)
    assert distribution_of([]) == Distribution(0, 0, 0, 0, 0)


def test_costs_are_per_post_and_per_action() -> None:
    one = outcome(100)

    assert one.amplification == 10
    assert one.cpu_ms == 2.0


def test_the_cheapest_threshold_that_meets_the_targets_is_recommended() -> None:
    slow = Distribution(100, 5.0, 10.0, 600.0, 900.0)
    advice = recommendation_text([costing(0, 1.0, read_ms=slow), costing(200, 2.0), costing(NEVER, 3.0)], 500)

    assert "feed_push_followers to about 200" in advice
    assert "push 1.50 times as much" in advice


def test_of_thresholds_that_cost_the_same_the_one_that_writes_least_is_recommended() -> None:
    advice = recommendation_text([costing(NEVER, 1.0, entries=5_000), costing(50, 1.02, entries=700)], 500)

    assert "to about 50" in advice


def test_a_population_without_celebrities_is_advised_to_push() -> None:
    assert "above your most followed account (here 90 followers)" in recommendation_text(
        [costing(NEVER, 1.0), costing(0, 2.0)], 90
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"late_ms": Distribution(9, 0, 0, 7_000.0, 9_000.0)}, "lower --speed"),
        ({"unseen": 1}, "No threshold kept"),
        ({"posts": 0}, "Nobody posted"),
    ],
)
def test_unusable_measurements_lead_to_no_recommendation(changes: dict[str, Any], words: str) -> None:
    advice = recommendation_text([outcome(0, **changes), outcome(NEVER, **changes)], 100)

    assert words in advice
    assert "feed_push_followers" not in advice


def test_the_chart_is_well_formed_and_shows_every_threshold() -> None:
    outcomes = [outcome(0), outcome(1_000), outcome(NEVER, entries=0)]
    report = SimulationReport(SimulationOptions(), 800, outcomes, "")

    root = ET.fromstring(render_svg(report))  # noqa: S314 - our own output
    words = " ".join(root.itertext())

    assert root.tag.endswith("svg")
    assert [words.count(name) for name in ("pull", "hybrid 1,000", "push")] == [4, 4, 4]
    assert len([line for line in render_text(report) if "hybrid 1,000" in line]) == 4


def test_where_the_machine_fell_behind_nothing_is_recommended_and_the_chart_says_so() -> None:
    queueing = Distribution(100, 900.0, 5_000.0, 7_000.0, 9_000.0)
    outcomes = [costing(0, 0.1, late_ms=queueing, read_ms=queueing), costing(200, 2.0), costing(NEVER, 3.0)]
    advice = recommendation_text(outcomes, 500)
    chart = render_svg(SimulationReport(SimulationOptions(), 800, outcomes, advice))
    words = " ".join(ET.fromstring(chart).itertext())  # noqa: S314 - our own output

    assert "to about 200" in advice
    assert "fell behind schedule with it: pull." in advice
    assert words.count("pull *") == 4
    assert "mostly queueing" in words
    assert chart.count("stroke-dasharray") == 1, "the target, where the scale reaches that far"


def test_thresholds_are_named_push_pull_and_hybrid() -> None:
    assert [name_of(each) for each in (0, 10_000, NEVER)] == ["pull", "hybrid 10,000", "push"]
