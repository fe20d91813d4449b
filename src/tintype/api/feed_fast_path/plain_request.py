"""Recognises plain queries of the feed. Anything unusual is left to the route."""

import re
from urllib.parse import parse_qsl

import msgspec

from tintype.feed import MAX_CURSOR_LENGTH, MODES, Mode

MAX_LIMIT = 50
LIMIT = re.compile(r"[1-9][0-9]?", re.ASCII)
MAX_PARAMETERS = 3


class FeedQuery(msgspec.Struct, frozen=True):
    """Which page of the feed a request is for."""

    mode: Mode = "ranked"
    cursor: str | None = None
    limit: int = 20


FIRST_PAGE = FeedQuery()


def parse_query(query: bytes) -> FeedQuery | None:
    """The page that a query string is for; None if anything about it is unusual."""
    if not query:
        return FIRST_PAGE
    try:
        pairs = parse_qsl(
            query.decode("ascii"), keep_blank_values=True, strict_parsing=True, max_num_fields=MAX_PARAMETERS
        )
    except ValueError:
        return None
    values = dict(pairs)
    is_plain = len(values) == len(pairs)
    limit, mode, cursor = values.pop("limit", "20"), values.pop("mode", "ranked"), values.pop("cursor", "")
    is_plain = is_plain and not values and len(cursor) <= MAX_CURSOR_LENGTH
    if not is_plain or mode not in MODES or not LIMIT.fullmatch(limit) or int(limit) > MAX_LIMIT:
        return None
    return FeedQuery(mode, cursor or None, int(limit))
