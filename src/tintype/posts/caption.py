"""Parses captions: hashtags and mentions, each with its position in the text."""

import msgspec

from tintype.base.ids import AccountId
from tintype.base.text import find_hashtags, find_mentions
from tintype.graph import Mentions
from tintype.posts.errors import TooManyHashtags
from tintype.posts.models import MAX_HASHTAGS, Span


class Caption(msgspec.Struct, frozen=True):
    """A caption with its hashtags and mentions resolved."""

    text: str
    spans: tuple[Span, ...]
    hashtags: tuple[str, ...]
    mention_ids: tuple[AccountId, ...]


def parse_imported_caption(text: str) -> Caption:
    """A caption from elsewhere: as many hashtags as a post may have, and no mentions, whose names are not ours."""
    tags = find_hashtags(text)
    hashtags = tuple(dict.fromkeys(match.key for match in tags))[:MAX_HASHTAGS]
    spans = tuple(
        Span(match.start, match.end, "hashtag", tag=match.key) for match in tags if match.key in hashtags
    )
    return Caption(text, spans, hashtags, ())


class CaptionParser:
    """Parses captions of one author at a time, because authors may mention only people they may know of."""

    def __init__(self, mentions: Mentions) -> None:
        self._mentions = mentions

    async def parse(self, author: AccountId, text: str) -> Caption:
        """Resolve hashtags and mentions; too many of either are refused."""
        tags = find_hashtags(text)
        hashtags = tuple(dict.fromkeys(match.key for match in tags))
        if len(hashtags) > MAX_HASHTAGS:
            raise TooManyHashtags
        mentioned = await self._mentions.resolve_new(author, text)
        spans = [
            *(Span(match.start, match.end, "hashtag", tag=match.key) for match in tags),
            *(
                Span(match.start, match.end, "mention", account_id=mentioned[match.key])
                for match in find_mentions(text)
                if match.key in mentioned
            ),
        ]
        in_order = tuple(sorted(spans, key=lambda span: span.start))
        return Caption(text, in_order, hashtags, tuple(dict.fromkeys(mentioned.values())))
