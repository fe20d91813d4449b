"""Saves: posts kept in named collections, on the shard of the one who keeps them."""

from tintype.saves.errors import (
    CollectionNameInvalid,
    CollectionNameTaken,
    CollectionNotFound,
    TooManyCollections,
)
from tintype.saves.events import PostSaved
from tintype.saves.models import Collection, CollectionId
from tintype.saves.service import QUERIES, Saves

__all__ = [
    "QUERIES",
    "Collection",
    "CollectionId",
    "CollectionNameInvalid",
    "CollectionNameTaken",
    "CollectionNotFound",
    "PostSaved",
    "Saves",
    "TooManyCollections",
]
