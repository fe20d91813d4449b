"""Ranking: in which order a viewer would like to see posts, and how close people are.

Owns the features of posts and viewers in Redis, which the events of the other rooms keep up to date and which may be
lost at any time, the scorer that makes an order of them, and `ranking_examples` (with the viewer): what some viewers
were shown and what came of it. `Explore` shows what is popular. The weights are in weights.toml, the experiments in
experiments.toml.
"""

from tintype.ranking.examples import QUERIES, Example
from tintype.ranking.experiments import Experiments
from tintype.ranking.exploring import Place
from tintype.ranking.features import NOBODY, Known
from tintype.ranking.models import Act, Explanation, Impression, Outcome, Ranked, Signal
from tintype.ranking.scorer import FEATURES, OUTCOMES, Scorer
from tintype.ranking.service import Ranking

__all__ = [
    "FEATURES",
    "NOBODY",
    "OUTCOMES",
    "QUERIES",
    "Act",
    "Example",
    "Experiments",
    "Explanation",
    "Impression",
    "Known",
    "Outcome",
    "Place",
    "Ranked",
    "Ranking",
    "Scorer",
    "Signal",
]
