"""What a caption means: its hashtags, and the people it mentions; and whether people may be tagged."""

from collections.abc import Iterable

import msgspec

from tintype.accounts import Accounts
from tintype.base.cache import Cache
from tintype.base.ids import AccountId
from tintype.graph import STRANGER, Graph, Seen, Sight, may_know
from tintype.posts.errors import (
    TaggedUserBlockedYou,
    TaggedUserNotFound,
    TooManyHashtags,
    TooManyMentions,
)
from tintype.posts.models import MOST_HASHTAGS, MOST_MENTIONS, Span
from tintype.posts.names import Names
from tintype.posts.words import find_hashtags, find_mentions


class Composed(msgspec.Struct, frozen=True):
    """A caption, understood."""

    caption: str
    spans: tuple[Span, ...]
    hashtags: tuple[str, ...]
    mention_ids: tuple[AccountId, ...]


class Composer:
    """Understands captions and checks tags, as one author may write them."""

    def __init__(self, accounts: Accounts, graph: Graph, sight: Sight, cache: Cache) -> None:
        self._accounts, self._graph, self._sight = accounts, graph, sight
        self._names = Names(accounts, cache)

    async def compose(self, author: AccountId, caption: str) -> Composed:
        """Hashtags and mentions with their places. A name that leads to nobody the author may know stays plain text."""
        tags, names = find_hashtags(caption), find_mentions(caption)
        hashtags = tuple(dict.fromkeys(word.key for word in tags))
        if len(hashtags) > MOST_HASHTAGS:
            raise TooManyHashtags
        mentioned = await self._mentioned(author, [word.key for word in names])
        spans = [
            *(Span(word.start, word.end, "hashtag", tag=word.key) for word in tags),
            *(
                Span(word.start, word.end, "mention", account_id=mentioned[word.key])
                for word in names
                if word.key in mentioned
            ),
        ]
        in_order = tuple(sorted(spans, key=lambda span: span.start))
        return Composed(caption, in_order, hashtags, tuple(dict.fromkeys(mentioned.values())))

    async def check_taggable(self, author: AccountId, people: Iterable[AccountId]) -> None:
        """Refuse to tag who does not exist, who blocked the author, and whose posts the author may not see."""
        wanted = set(people)
        if not wanted:
            return
        accounts = await self._accounts.find_many(wanted)
        relations = await self._graph.relations(author, accounts)
        for each in wanted:
            account, relation = accounts.get(each), relations.get(each, STRANGER)
            if account is not None and account.is_active and relation.is_blocked:
                raise TaggedUserBlockedYou
            if (
                account is None
                or not may_know(account, relation)
                or not Seen(account, relation).shows_content
            ):
                raise TaggedUserNotFound

    async def _mentioned(self, author: AccountId, names: list[str]) -> dict[str, AccountId]:
        if len(set(names)) > MOST_MENTIONS:
            raise TooManyMentions
        found = await self._names.find(names)
        seen = await self._sight.of(author, (account.id for account in found.values()))
        return {name: account.id for name, account in found.items() if account.id in seen}
