"""Training for explore, a front door of its own: it needs `tintype[train]` (JAX, optax, SciPy); serving does not.

`GraphFilter` computes neighbour lists in closed form; `TowerTraining` trains the two towers, epoch by epoch. Both
take interactions and make what `tintype.explore` publishes and serves.
"""

from tintype.explore.training.graph_filter import FilterSettings, GraphFilter
from tintype.explore.training.tower_settings import TowerSettings
from tintype.explore.training.tower_training import EpochReport, TowerTraining
from tintype.explore.training.training_set import TrainingSet

__all__ = [
    "EpochReport",
    "FilterSettings",
    "GraphFilter",
    "TowerSettings",
    "TowerTraining",
    "TrainingSet",
]
