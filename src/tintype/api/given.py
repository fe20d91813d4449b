"""What a route can ask for by naming it: the rooms, the viewer, an id from the address, a page."""

from typing import Annotated

from litestar.di import NamedDependency
from litestar.params import PathParameter, QueryParameter

from shardwright.errors import InvalidId
from shardwright.ids import SHORT_LENGTH, decode_short
from tintype.accounts import Account
from tintype.api.session import Sessions
from tintype.base.errors import Invalid
from tintype.base.ids import LARGEST_ID, PostId
from tintype.wiring import Rooms

House = NamedDependency[Rooms]
Viewer = NamedDependency[Account]
"""Who asks; a route that names it refuses strangers."""
Guest = NamedDependency[Account | None]
"""Who asks, or None: for what everybody may read."""
SessionReader = NamedDependency[Sessions]
PathId = Annotated[str, PathParameter(description="An id, as a string.", pattern=r"^[1-9][0-9]{0,18}$")]
PostRef = Annotated[
    str,
    PathParameter(
        description="A post's id, or the short code of its permalink.", pattern=r"^[0-9A-Za-z]{1,19}$"
    ),
]
Cursor = Annotated[
    str | None,
    QueryParameter(description="Where the page begins: `next_cursor` of the page before.", max_length=200),
]
Limit = Annotated[int, QueryParameter(description="How many at most.", ge=1, le=50)]


class IdInvalid(Invalid):
    """An id is a positive number below 2^63, written in decimal digits."""

    code = "id_invalid"


def id_from(text: str) -> int:
    """The number behind an id in an address or a body."""
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and 0 < int(text) <= LARGEST_ID):  # noqa: PLR2004 - digits of 2^63
        raise IdInvalid
    return int(text)


def post_from(text: str) -> PostId:
    """The post behind its id or its short code. An id of as few digits as a code has letters was never made."""
    if len(text) != SHORT_LENGTH:
        return PostId(id_from(text))
    try:
        return PostId(decode_short(text))
    except InvalidId as error:
        raise IdInvalid from error
