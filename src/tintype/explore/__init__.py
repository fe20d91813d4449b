"""Explore: retrieval that learns from what people did; two towers, a graph filter and the index that serves them.

Owns no tables: models and index are directories of memory-mapped files, each published as a whole under one model
version, shared by all processes and made anew by training (`tintype.explore.training`, which needs `tintype[train]`).
`Retriever` answers what suits a person, with numpy alone: the towers find what is near in vectors, also for people
and items that are new, the filter what those who did the same did next. Items and people are erased in place.
Nothing here is shown yet: which of the items a viewer may see, and their order, are for the rooms above.
"""

from tintype.explore.errors import (
    ModelVersionMismatch,
    NothingPublished,
    TrainingDataInvalid,
    TrainingDiverged,
    VectorsInvalid,
)
from tintype.explore.features import ItemFeatures, PersonFeatures
from tintype.explore.interactions import Interactions
from tintype.explore.neighbour_lists import NeighbourLists, NeighbourListStore
from tintype.explore.picture_descriptors import LENGTH as PICTURE_LENGTH
from tintype.explore.picture_descriptors import describe_picture
from tintype.explore.retrieval import BlendSettings, Candidates, Retriever
from tintype.explore.towers import PersonVector, TowerModel, TowerStore
from tintype.explore.vector_index import EXACT_LIMIT, VectorIndex, VectorIndexWriter

__all__ = [
    "EXACT_LIMIT",
    "PICTURE_LENGTH",
    "BlendSettings",
    "Candidates",
    "Interactions",
    "ItemFeatures",
    "ModelVersionMismatch",
    "NeighbourListStore",
    "NeighbourLists",
    "NothingPublished",
    "PersonFeatures",
    "PersonVector",
    "Retriever",
    "TowerModel",
    "TowerStore",
    "TrainingDataInvalid",
    "TrainingDiverged",
    "VectorIndex",
    "VectorIndexWriter",
    "VectorsInvalid",
    "describe_picture",
]
