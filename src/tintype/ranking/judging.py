"""One set of weights at work: features, outcomes and scores of some posts for one viewer."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tintype.ranking.features import Features, Ids, Known
from tintype.ranking.ordering import Ordering, Places
from tintype.ranking.rows import Floats, Posts
from tintype.ranking.scorer import HandWeighted, Scorer
from tintype.ranking.weights import Weights


@dataclass(frozen=True)
class Verdict:
    """What was found of some posts, in the order they were given."""

    features: Floats
    outcomes: Floats
    scores: Floats


class Judge:
    """Judges posts; a trained scorer may be given in the place of the hand-weighted one."""

    def __init__(self, weights: Weights, epoch_ms: int, scorer: Scorer | None = None) -> None:
        self.features, self.ordering = Features(weights, epoch_ms), Ordering(weights)
        self.scorer: Scorer = scorer or HandWeighted(weights)

    def judge(self, ids: Ids, posts: Posts, known: Known, now_s: float) -> Verdict:
        """Features, how likely each outcome is, and what that makes together."""
        return self.weigh(self.features.build(ids, posts, known, now_s))

    def weigh(self, features: Floats) -> Verdict:
        """The same where the features are known already."""
        outcomes = self.scorer.score(features)
        return Verdict(features, outcomes, self.ordering.scores(features, outcomes))

    def arrange(self, verdict: Verdict, authors: NDArray[np.uint64]) -> tuple[Places, Floats]:
        """The places of the posts, best first, and their final scores."""
        return self.ordering.arrange(verdict.scores, authors)
