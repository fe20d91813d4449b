"""Explains why a post is where it is, in numbers and in words."""

from collections.abc import Sequence

from tintype.base.ids import PostId
from tintype.ranking.models import Explanation, Outcome, Signal
from tintype.ranking.outcome_model import FEATURES, OUTCOMES
from tintype.ranking.row_layouts import Floats
from tintype.ranking.scoring import PostScorer, ScoredPosts

WORDS = {
    "affinity": "How often you like, comment on, save and look up what its author does.",
    "interest": "How much you care for posts with its hashtags.",
    "popularity": "How many people react to it just now.",
    "freshness": "How new it is.",
    "cadence": "How often its author posts.",
    "video": "Whether it has a video.",
    "album": "Whether it has several pictures.",
    "seen": "Whether you have seen it before.",
}
REASONS = {
    "affinity": "you are close to its author",
    "interest": "you care for its hashtags",
    "popularity": "many people react to it just now",
    "freshness": "it is new",
}
NOTABLE = 0.25
DIGITS = 4


def explain(
    scorer: PostScorer, scored: ScoredPosts, ids: Sequence[PostId], *, arm: str
) -> dict[PostId, Explanation]:
    """An explanation of each post that was scored."""
    features, order = scored.features, scorer.order
    moved = scorer.model.contributions(features)
    aged, sunk = order.by_age(features).tolist(), order.by_seen(features).tolist()
    return {
        post_id: Explanation(
            post_id=str(post_id),
            summary=_summarise(reasons := _reasons(features[row])),
            reasons=reasons,
            score=round(float(scored.scores[row]), DIGITS),
            weights=scorer.model.version,
            arm=arm,
            outcomes=_outcomes(scorer, scored.outcomes[row]),
            signals=_signals(features[row], moved[row]),
            factors={"age": round(aged[row], DIGITS), "seen": round(sunk[row], DIGITS)},
        )
        for row, post_id in enumerate(ids)
    }


def _outcomes(scorer: PostScorer, found: Floats) -> list[Outcome]:
    values = scorer.order.values
    return [
        Outcome(name, round(float(found[column]), DIGITS), round(float(values[column]), DIGITS))
        for column, name in enumerate(OUTCOMES)
    ]


def _signals(features: Floats, moved: Floats) -> list[Signal]:
    return [
        Signal(
            name,
            WORDS[name],
            round(float(features[row]), DIGITS),
            {each: round(float(moved[row, column]), DIGITS) for column, each in enumerate(OUTCOMES)},
        )
        for row, name in enumerate(FEATURES)
    ]


def _reasons(features: Floats) -> list[str]:
    known: dict[str, float] = dict(zip(FEATURES, features.tolist(), strict=True))
    notable = [name for name in REASONS if known[name] >= NOTABLE]
    return [*sorted(notable, key=lambda name: -known[name]), *(["seen"] if known["seen"] else [])]


def _summarise(names: Sequence[str]) -> str:
    reasons = [REASONS[name] for name in names if name in REASONS]
    sinks = " You have seen it before, so it comes later." if "seen" in names else ""
    if not reasons:
        return f"It stands where its age puts it.{sinks}"
    return f"It is here because {' and '.join(reasons)}.{sinks}"
