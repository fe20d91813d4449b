"""The outcome model: predicts from the features of posts how likely each of five outcomes is.

One interface, so that a trained model can replace the hand-weighted one without any other change.
"""

from typing import Protocol, cast

import numpy as np

from tintype.ranking.row_layouts import Floats
from tintype.ranking.weights import Weights

FEATURES = ("affinity", "interest", "popularity", "freshness", "cadence", "video", "album", "seen")
"""The columns of a feature matrix, each from 0 to 1. Stored in training examples: add at the end, never reorder."""
OUTCOMES = ("like", "comment", "save", "share", "linger")


class OutcomeModel(Protocol):
    """Anything that predicts outcomes from features."""

    @property
    def version(self) -> str:
        """The name of the model in explanations and training examples."""
        ...

    def predict(self, features: Floats) -> Floats:
        """A row of probabilities, in the order of OUTCOMES, for each row of features, in the order of FEATURES."""
        ...

    def contributions(self, features: Floats) -> Floats:
        """How much each feature of each row moves each outcome, in log-odds: rows, features, outcomes."""
        ...


class HandWeightedModel:
    """A logistic regression per outcome, with weights set by hand."""

    def __init__(self, weights: Weights) -> None:
        outcomes = [getattr(weights.outcomes, name) for name in OUTCOMES]
        self._weights = np.array(
            [[getattr(each, name) for each in outcomes] for name in FEATURES], np.float32
        )
        self._bias = np.array([each.bias for each in outcomes], np.float32)
        self._version = weights.version

    @property
    def version(self) -> str:
        """The version in the weights file."""
        return self._version

    def predict(self, features: Floats) -> Floats:
        """Logistic regression of all posts and outcomes at once."""
        odds = features.dot(self._weights)
        odds += self._bias
        np.negative(odds, out=odds)
        np.exp(odds, out=odds)
        odds += 1.0
        return cast("Floats", np.reciprocal(odds, out=odds))

    def contributions(self, features: Floats) -> Floats:
        """Weight times feature."""
        return cast("Floats", features[:, :, None] * self._weights[None, :, :])
