"""The scorer: from the features of posts to how likely each of five outcomes is.

One interface, so that a trained model can take the place of the hand-made one and nothing else has to know.
"""

from typing import Protocol, cast

import numpy as np

from tintype.ranking.rows import Floats
from tintype.ranking.weights import Weights

FEATURES = ("affinity", "interest", "popularity", "freshness", "cadence", "video", "album", "seen")
"""The columns of a feature matrix, each from 0 to 1. Logged as served: add at the end, never reorder."""
OUTCOMES = ("like", "comment", "save", "share", "linger")


class Scorer(Protocol):
    """Anything that judges posts by their features."""

    @property
    def version(self) -> str:
        """Names the model, in explanations and training examples."""
        ...

    def score(self, features: Floats) -> Floats:
        """A row of probabilities, in the order of OUTCOMES, for each row of features, in the order of FEATURES."""
        ...

    def contributions(self, features: Floats) -> Floats:
        """How much each feature of each row moves each outcome, in log-odds: rows, features, outcomes."""
        ...


class HandWeighted:
    """A logistic model for each outcome, with weights that somebody thought about."""

    def __init__(self, weights: Weights) -> None:
        heads = [getattr(weights.outcomes, name) for name in OUTCOMES]
        self._weights = np.array([[getattr(head, name) for head in heads] for name in FEATURES], np.float32)
        self._bias = np.array([head.bias for head in heads], np.float32)
        self._version = weights.version

    @property
    def version(self) -> str:
        """The version in the weights file."""
        return self._version

    def score(self, features: Floats) -> Floats:
        """Logistic regression, all posts and outcomes at once."""
        odds = features @ self._weights
        odds += self._bias
        np.negative(odds, out=odds)
        np.exp(odds, out=odds)
        odds += 1.0
        return cast("Floats", np.reciprocal(odds, out=odds))

    def contributions(self, features: Floats) -> Floats:
        """Weight times feature."""
        return cast("Floats", features[:, :, None] * self._weights[None, :, :])
