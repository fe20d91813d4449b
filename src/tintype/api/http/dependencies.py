"""What routes declare as parameters: the injected rooms and viewer, ids in the path, cursors and limits of pages."""

from typing import Annotated

from litestar.di import NamedDependency
from litestar.params import HeaderParameter, PathParameter, QueryParameter

from shardwright.errors import InvalidId
from shardwright.ids import SHORT_LENGTH, decode_short
from tintype.accounts import Account, AuthenticatedSession, Caller
from tintype.api.http.authentication import Authenticator
from tintype.base.errors import Invalid
from tintype.base.ids import LARGEST_ID, AccountId, CommentId, MediaId, PostId
from tintype.wiring import Rooms

InjectedRooms = NamedDependency[Rooms]
Viewer = NamedDependency[Account]
"""The account that is signed in; a route that declares it refuses everybody else."""
Guest = NamedDependency[Account | None]
"""The account that is signed in, or None: for what can be read without an account."""
InjectedAuthenticator = NamedDependency[Authenticator]
CurrentSession = NamedDependency[AuthenticatedSession]
"""The session of the request; a route that declares it refuses requests without one."""
ConfirmedSession = NamedDependency[AuthenticatedSession]
"""The session of the request; where a second factor is set up, its holder proved it within the last minutes."""
ReauthenticatedSession = NamedDependency[AuthenticatedSession]
"""The session of the request, whose holder proved their identity again within the last minutes."""
ClientInfo = NamedDependency[Caller]
"""The network and device that a request came from."""
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
IdempotencyKey = Annotated[str | None, HeaderParameter(name="Idempotency-Key", max_length=128)]


class IdInvalid(Invalid):
    """An id is a positive number below 2^63, written in decimal digits."""

    code = "id_invalid"


def parse_id(text: str) -> int:
    """The number of an id in a path or a body."""
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and 0 < int(text) <= LARGEST_ID):  # noqa: PLR2004 - digits of 2^63
        raise IdInvalid
    return int(text)


def parse_account_id(text: str) -> AccountId:
    """An account's id in a path or a body."""
    return AccountId(parse_id(text))


def parse_comment_id(text: str) -> CommentId:
    """A comment's id in a path or a body."""
    return CommentId(parse_id(text))


def parse_media_id(text: str) -> MediaId:
    """The id of a picture or video in a path or a body."""
    return MediaId(parse_id(text))


def parse_post_id(text: str) -> PostId:
    """A post's id, from its digits or from its short code: no id has as few digits as a code has letters."""
    if len(text) != SHORT_LENGTH:
        return PostId(parse_id(text))
    try:
        return PostId(decode_short(text))
    except InvalidId as error:
        raise IdInvalid from error


def id_of(viewer: Account | None) -> AccountId | None:
    """The viewer's id; None for a guest."""
    return viewer.id if viewer else None
