"""How the saves room says no."""

from tintype.base.errors import Conflict, Invalid, NotFound


class CollectionNotFound(NotFound):
    """You have no such collection."""

    code = "collection_not_found"


class CollectionNameInvalid(Invalid):
    """A collection's name has 1 to 50 characters."""

    code = "collection_name_invalid"


class CollectionNameTaken(Conflict):
    """You have a collection of that name already."""

    code = "collection_name_taken"


class TooManyCollections(Conflict):
    """You have 200 collections, which is as many as there can be."""

    code = "too_many_collections"
