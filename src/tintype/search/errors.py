"""How the search room says no."""

from tintype.base.errors import Invalid, NotFound


class PlaceNotFound(NotFound):
    """There is no such place."""

    code = "place_not_found"


class TagNotFound(NotFound):
    """Nobody has used this tag yet, or it is not one."""

    code = "tag_not_found"


class PlaceInvalid(Invalid):
    """A place has a name of 1 to 100 characters, a latitude from -90 to 90 and a longitude from -180 to 180."""

    code = "place_invalid"


class RecentSearchNotFound(NotFound):
    """That search is not among your recent ones."""

    code = "recent_search_not_found"


class RecentSearchInvalid(Invalid):
    """Remember words, an account, a tag or a place that can be found here, in at most 100 characters."""

    code = "recent_search_invalid"
