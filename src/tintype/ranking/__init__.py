"""Ranking: the order in which a viewer would like to see posts, and how close people are.

Owns the features of posts and viewers in Redis, which events of the other rooms keep up to date and which may be lost
at any time; the model that scores posts by them; and `ranking_examples` (with the viewer): training examples of what
some viewers were shown and what they did. Explore shows popular posts of strangers. The weights are in weights.toml,
the experiments in experiments.toml.
"""

from tintype.ranking.experiments import Experiments
from tintype.ranking.explore import ExploreCursor
from tintype.ranking.features import NO_FEATURES, ViewerFeatures
from tintype.ranking.models import Explanation, Impression, Interaction, Outcome, RankedPost, Signal
from tintype.ranking.outcome_model import FEATURES, OUTCOMES, OutcomeModel
from tintype.ranking.service import Ranking
from tintype.ranking.store import QUERIES
from tintype.ranking.training_examples import TrainingExample

__all__ = [
    "FEATURES",
    "NO_FEATURES",
    "OUTCOMES",
    "QUERIES",
    "Experiments",
    "Explanation",
    "ExploreCursor",
    "Impression",
    "Interaction",
    "Outcome",
    "OutcomeModel",
    "RankedPost",
    "Ranking",
    "Signal",
    "TrainingExample",
    "ViewerFeatures",
]
