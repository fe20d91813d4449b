"""One sentence for the operator, derived from the numbers alone."""

from collections.abc import Sequence

from tintype.simulation.models import NEVER, Outcome, name_of

SLOWEST_READ_MS, STALEST_MS = 500.0, 30_000.0
"""What the feed promises: 99 of 100 reads within half a second, 99 of 100 posts visible within half a minute."""
LATE_MS = 1_000.0
ALIKE = 1.05
"""Costs within five per cent of each other are the same: a machine is no quieter than that."""


def advise(outcomes: Sequence[Outcome], most_followers: int) -> str:
    """Which threshold to take for people like these, and why."""
    if not any(outcome.posts for outcome in outcomes):
        return "Nobody posted: simulate more people or more hours."
    if all(fell_behind(outcome) for outcome in outcomes):
        return (
            f"This machine fell {outcomes[0].late_ms.p99 / 1000:.1f} s behind the plan: "
            "what was measured is the queue. Repeat with a lower --speed."
        )
    best = recommend(outcomes)
    if best is None:
        return (
            "No threshold kept reads below 500 ms and posts visible within 30 s for 99 in 100: "
            "this machine is too small for these people, or the speed too high."
        )
    return _say(best, outcomes, most_followers)


def recommend(outcomes: Sequence[Outcome]) -> Outcome | None:
    """The one to take, if anything can be said."""
    kept = [outcome for outcome in outcomes if outcome.posts and _keeps_promises(outcome)]
    return choose(kept) if kept else None


def fell_behind(outcome: Outcome) -> bool:
    """Whether the machine could not follow the plan: what was measured then is mostly waiting."""
    return outcome.late_ms.p99 > LATE_MS


def choose(outcomes: Sequence[Outcome]) -> Outcome:
    """The cheapest; of those that cost about the same, the one that writes and keeps the least."""
    least = min(outcome.cpu_ms for outcome in outcomes)
    return min(
        (outcome for outcome in outcomes if outcome.cpu_ms <= least * ALIKE),
        key=lambda outcome: outcome.amplification,
    )


def _keeps_promises(outcome: Outcome) -> bool:
    return (
        outcome.read_ms.p99 <= SLOWEST_READ_MS
        and outcome.fresh_ms.p99 <= STALEST_MS
        and not outcome.unseen
        and not fell_behind(outcome)
    )


def _say(best: Outcome, outcomes: Sequence[Outcome], most_followers: int) -> str:
    others = ", ".join(
        f"{name_of(other.threshold)} {other.cpu_ms / best.cpu_ms:.2f} times as much"
        for other in outcomes
        if other is not best and best.cpu_ms
    )
    why = (
        f"{name_of(best.threshold)} cost {best.cpu_ms:.1f} CPU-ms a deed"
        f"{f' ({others})' if others else ''}, with reads of {best.read_ms.p99:.0f} ms, posts visible after "
        f"{best.fresh_ms.p99:.0f} ms (both p99) and {best.amplification:.1f} entries written a post"
    )
    if best.threshold >= NEVER:
        what = (
            f"leave feed_push_followers above your most followed account (here {most_followers:,} followers)"
        )
    else:
        what = f"set feed_push_followers to about {max(1, best.threshold):,}"
    return f"For people like these {what}: {why}.{_besides(outcomes)}"


def _besides(outcomes: Sequence[Outcome]) -> str:
    behind = [name_of(outcome.threshold) for outcome in outcomes if fell_behind(outcome)]
    if not behind:
        return ""
    return f" Not considered, because this machine fell behind the plan with it: {', '.join(behind)}."
