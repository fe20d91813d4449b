"""Scores posts for one viewer with one set of weights: features, predicted outcomes, score, order."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tintype.ranking.features import FeatureBuilder, Ids, ViewerFeatures
from tintype.ranking.outcome_model import HandWeightedModel, OutcomeModel
from tintype.ranking.row_layouts import Floats, PostColumns
from tintype.ranking.score_order import Positions, ScoreOrder
from tintype.ranking.weights import Weights


@dataclass(frozen=True)
class ScoredPosts:
    """The features, predicted outcomes and scores of some posts, row by row."""

    features: Floats
    outcomes: Floats
    scores: Floats


class PostScorer:
    """Scores posts; a trained model may replace the hand-weighted one."""

    def __init__(self, weights: Weights, epoch_ms: int, model: OutcomeModel | None = None) -> None:
        self.features, self.order = FeatureBuilder(weights, epoch_ms), ScoreOrder(weights)
        self.model: OutcomeModel = model or HandWeightedModel(weights)

    def score(self, ids: Ids, posts: PostColumns, viewer: ViewerFeatures, now_s: float) -> ScoredPosts:
        """Build the features of these posts and score them."""
        return self.score_features(self.features.build(ids, posts, viewer, now_s))

    def score_features(self, features: Floats) -> ScoredPosts:
        """Score posts whose features are built already."""
        outcomes = self.model.predict(features)
        return ScoredPosts(features, outcomes, self.order.scores(features, outcomes))

    def arrange(self, scored: ScoredPosts, authors: NDArray[np.uint64]) -> tuple[Positions, Floats]:
        """The row numbers of the posts, best first, and their final scores."""
        return self.order.arrange(scored.scores, authors)
