"""Saves: bookmarked posts and the named collections they are in, on the shard of the person who saved them."""

from tintype.saves.dependencies import SavesDependencies
from tintype.saves.errors import (
    CollectionNameInvalid,
    CollectionNameTaken,
    CollectionNotFound,
    TooManyCollections,
)
from tintype.saves.events import PostSaved
from tintype.saves.models import Collection, CollectionId
from tintype.saves.service import Saves
from tintype.saves.store import QUERIES

__all__ = [
    "QUERIES",
    "Collection",
    "CollectionId",
    "CollectionNameInvalid",
    "CollectionNameTaken",
    "CollectionNotFound",
    "PostSaved",
    "Saves",
    "SavesDependencies",
    "TooManyCollections",
]
