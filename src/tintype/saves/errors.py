"""Errors of the saves room."""

from tintype.base.errors import Conflict, Invalid, NotFound


class CollectionNotFound(NotFound):
    """You have no such collection."""

    code = "collection_not_found"


class CollectionNameInvalid(Invalid):
    """The name of a collection must have 1 to 50 characters."""

    code = "collection_name_invalid"


class CollectionNameTaken(Conflict):
    """You already have a collection with that name."""

    code = "collection_name_taken"


class TooManyCollections(Conflict):
    """You can have at most 200 collections. Delete one first."""

    code = "too_many_collections"
