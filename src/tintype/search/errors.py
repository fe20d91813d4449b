"""Why the search room refuses a request."""

from tintype.base.errors import Invalid, NotFound


class PlaceNotFound(NotFound):
    """There is no such place."""

    code = "place_not_found"


class TagNotFound(NotFound):
    """No public post uses this hashtag, or it is not a valid hashtag."""

    code = "tag_not_found"


class NewPlaceInvalid(Invalid):
    """A place needs a name of 1 to 100 characters, a latitude from -90 to 90 and a longitude from -180 to 180."""

    code = "place_invalid"


class RecentSearchNotFound(NotFound):
    """That search is not among your recent ones."""

    code = "recent_search_not_found"


class RecentSearchInvalid(Invalid):
    """A recent search is an existing account, hashtag or place, or words of at most 100 characters."""

    code = "recent_search_invalid"
