"""Recommends a push threshold, from the measurements alone."""

from collections.abc import Sequence

from tintype.simulation.models import NEVER, ThresholdOutcome, name_of

MAX_READ_P99_MS, MAX_VISIBLE_P99_MS = 500.0, 30_000.0
"""The feed's targets: 99 of 100 reads within half a second, 99 of 100 posts visible within half a minute."""
MAX_LATE_P99_MS = 1_000.0
SAME_COST = 1.05
"""Costs within five per cent of each other count as equal: measurements are no more precise than that."""


def recommendation_text(outcomes: Sequence[ThresholdOutcome], most_followers: int) -> str:
    """The recommended threshold for this population, and why, in one or two sentences."""
    if not any(outcome.posts for outcome in outcomes):
        return "Nobody posted: simulate more people or more hours."
    if all(fell_behind(outcome) for outcome in outcomes):
        return (
            f"This machine fell {outcomes[0].late_ms.p99 / 1000:.1f} s behind schedule: "
            "the measurements are mostly queueing. Repeat with a lower --speed."
        )
    best = recommend(outcomes)
    if best is None:
        return (
            "No threshold kept reads below 500 ms and posts visible within 30 s for 99 in 100: "
            "this machine is too small for this many people, or the speed is too high."
        )
    return _explain(best, outcomes, most_followers)


def recommend(outcomes: Sequence[ThresholdOutcome]) -> ThresholdOutcome | None:
    """The outcome to recommend; None when no threshold met the targets."""
    eligible = [outcome for outcome in outcomes if outcome.posts and _meets_targets(outcome)]
    return choose(eligible) if eligible else None


def fell_behind(outcome: ThresholdOutcome) -> bool:
    """Whether the machine could not keep up with the schedule: then the measurements are mostly queueing."""
    return outcome.late_ms.p99 > MAX_LATE_P99_MS


def choose(outcomes: Sequence[ThresholdOutcome]) -> ThresholdOutcome:
    """The cheapest in CPU time; of those that cost about the same, the one that writes the fewest entries."""
    least = min(outcome.cpu_ms for outcome in outcomes)
    return min(
        (outcome for outcome in outcomes if outcome.cpu_ms <= least * SAME_COST),
        key=lambda outcome: outcome.amplification,
    )


def _meets_targets(outcome: ThresholdOutcome) -> bool:
    return (
        outcome.read_ms.p99 <= MAX_READ_P99_MS
        and outcome.fresh_ms.p99 <= MAX_VISIBLE_P99_MS
        and not outcome.unseen
        and not fell_behind(outcome)
    )


def _explain(best: ThresholdOutcome, outcomes: Sequence[ThresholdOutcome], most_followers: int) -> str:
    others = ", ".join(
        f"{name_of(other.threshold)} {other.cpu_ms / best.cpu_ms:.2f} times as much"
        for other in outcomes
        if other is not best and best.cpu_ms
    )
    why = (
        f"{name_of(best.threshold)} cost {best.cpu_ms:.1f} CPU-ms per action"
        f"{f' ({others})' if others else ''}, with reads of {best.read_ms.p99:.0f} ms, posts visible after "
        f"{best.fresh_ms.p99:.0f} ms (both p99) and {best.amplification:.1f} entries written per post"
    )
    if best.threshold >= NEVER:
        what = (
            f"leave feed_push_followers above your most followed account (here {most_followers:,} followers)"
        )
    else:
        what = f"set feed_push_followers to about {max(1, best.threshold):,}"
    return f"For a population like this, {what}: {why}.{_excluded(outcomes)}"


def _excluded(outcomes: Sequence[ThresholdOutcome]) -> str:
    behind = [name_of(outcome.threshold) for outcome in outcomes if fell_behind(outcome)]
    if not behind:
        return ""
    return f" Not considered, because this machine fell behind schedule with it: {', '.join(behind)}."
