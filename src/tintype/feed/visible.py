"""Of the posts on a timeline, those that the reader may see and wants to, with everything an answer needs of them.

This is the hottest read of the house, so it asks for everything at once: cards, numbers and people in one round trip to
Redis, beside one query on the reader's shard. Who is in a post is in its card, which is not read yet; but this process
remembers the people of the cards it has read, asks for those, and asks again only where a card has changed. The rules
are those of `graph.Sight` and `posts.Posts`; a test compares both on random worlds.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from redis.exceptions import RedisError

from shardwright.running import Queries, Shards
from tintype.accounts import Account, Accounts
from tintype.base.cache import Cache
from tintype.base.counting import NOTHING, Buffered
from tintype.base.ids import AccountId, PostId, has_shard
from tintype.base.log import get_log
from tintype.base.wire import Asked, Command, Wire
from tintype.posts import Counts, Post, Posts

QUERIES = Queries.load(Path(__file__).with_name("visible.sql"))
MOST_KNOWN = 10_000
NO_COUNTS = Counts(0, 0, 0, 0)
log = get_log("feed")


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A post as the reader of a feed gets it."""

    card: Post
    """The post as it is to everybody; the same object as long as it has not changed."""
    author: Account
    people: Mapping[AccountId, Account]
    """The author and those in the pictures and words that the reader may know of, with others of the page."""
    like_count: int | None
    comment_count: int
    has_liked: bool = False
    has_saved: bool = False

    @property
    def id(self) -> PostId:
        """The post's id."""
        return self.card.id

    @property
    def post(self) -> Post:
        """The post as the reader sees it."""
        return msgspec.structs.replace(
            self.card,
            like_count=self.like_count,
            comment_count=self.comment_count,
            viewer_has_liked=self.has_liked,
        )


class Standing(msgspec.Struct, frozen=True):
    """How the reader stands to the people and posts of a page."""

    reader: AccountId
    followed: frozenset[int] = frozenset()
    muted: frozenset[int] = frozenset()
    blocked: frozenset[int] = frozenset()
    liked: frozenset[int] = frozenset()
    saved: frozenset[int] = frozenset()

    def known_of(self, accounts: Mapping[AccountId, Account]) -> dict[AccountId, Account]:
        """Those of the accounts that the reader may learn of: in use, and no block between the two; or their own."""
        return {
            each: account
            for each, account in accounts.items()
            if (account.status == "active" and each not in self.blocked) or each == self.reader
        }

    def authors(self) -> frozenset[int]:
        """Whose posts belong into the reader's feed."""
        return self.followed.difference(self.muted).union((self.reader,))


class Answers(msgspec.Struct, frozen=True):
    """What Redis said of a page; nothing where it is away, and everything is then loaded."""

    buffered: Buffered
    cards: Sequence[bytes | None]
    counts: Sequence[bytes | None]
    people: Sequence[bytes | None]


class Visible:
    """Unfollowing, muting, blocking and removing show at once, whatever a timeline holds."""

    def __init__(self, shards: Shards, wire: Wire, cache: Cache, posts: Posts, accounts: Accounts) -> None:
        self._shards, self._wire, self._cache = shards, wire, cache
        self._parts, self._accounts = posts.sources(), accounts.cards
        self._known: dict[PostId, tuple[Post, tuple[AccountId, ...]]] = {}

    async def read(self, reader: AccountId, ids: Sequence[PostId]) -> list[Entry]:
        """Those of the posts that belong into this reader's feed now, in the order of `ids`."""
        wanted = [each for each in dict.fromkeys(ids) if each in self._known or has_shard(self._shards, each)]
        if not wanted:
            return []
        people, is_known = self._people(wanted)
        asked = self._wire.begin(*self._commands(wanted, people))
        try:
            standing = await self._standing(reader, people, wanted) if is_known else None
            answers = await self._answers(asked, wanted, people)
        finally:
            asked.cancel()
        cards = await self._cache.settle(self._parts.cards, wanted, answers.cards)
        accounts = await self._cache.settle(self._accounts, people, answers.people)
        fresh = self._learn(cards).difference(people)
        if fresh or standing is None:
            accounts |= await self._cache.get_many(self._accounts.kind, fresh, self._accounts.load)
            standing = await self._standing(reader, [*people, *fresh], wanted)
        seen, authors = standing.known_of(accounts), standing.authors()
        shown = {
            each: card
            for each, card in cards.items()
            if card.author_id in authors and card.author_id in seen and card.is_shown
        }
        counts = await self._counts(wanted, shown, answers)
        return [
            _entry(shown[each], seen, counts.get(each, NO_COUNTS), answers.buffered, standing)
            for each in wanted
            if each in shown
        ]

    def _people(self, ids: Iterable[PostId]) -> tuple[list[AccountId], bool]:
        """Everybody in these posts as far as this process remembers, and whether it remembers all of the posts."""
        people, is_known = set[AccountId](), True
        for each in ids:
            remembered = self._known.get(each)
            if remembered is None:
                is_known = False
            else:
                people.update(remembered[1])
        return list(people), is_known

    def _commands(self, ids: Sequence[PostId], people: Sequence[AccountId]) -> list[Command]:
        cache, parts = self._cache, self._parts
        commands = [
            *parts.likes.commands(ids),
            cache.command(parts.cards.kind, ids),
            cache.command(parts.counts.kind, ids),
        ]
        if people:
            commands.append(cache.command(self._accounts.kind, people))
        return commands

    async def _answers(self, asked: Asked, ids: Sequence[PostId], people: Sequence[AccountId]) -> Answers:
        try:
            *buffered, cards, counts, seen = await asked if people else [*await asked, ()]
        except (RedisError, OSError) as error:
            log.warning("feed.uncached", error=str(error))
            return Answers(NOTHING, [None] * len(ids), [None] * len(ids), [None] * len(people))
        return Answers(self._parts.likes.read(ids, buffered), cards, counts, seen)

    async def _standing(
        self, reader: AccountId, people: Sequence[AccountId], ids: Sequence[PostId]
    ) -> Standing:
        row = await self._shards.owner(reader).fetch_one(
            QUERIES.standing, reader_id=reader, people=people, posts=ids
        )
        return Standing(reader, *map(frozenset, row)) if row else Standing(reader)

    async def _counts(
        self, ids: Sequence[PostId], shown: Mapping[PostId, Post], answers: Answers
    ) -> dict[PostId, Counts]:
        wanted, values = ids, answers.counts
        if len(shown) < len(ids):
            wanted = list(shown)
            values = [value for each, value in zip(ids, answers.counts, strict=True) if each in shown]
        return await self._cache.settle(self._parts.counts, wanted, values)

    def _learn(self, cards: Mapping[PostId, Post]) -> set[AccountId]:
        """Remember who is in the posts that are new here or have changed; returns everybody in these posts.

        Not only whom we did not know: another reader may have learned of them since we asked.
        """
        known, people = self._known, set[AccountId]()
        for each, card in cards.items():
            remembered = known.get(each)
            if remembered is None or remembered[0] is not card:
                if remembered is None and len(known) >= MOST_KNOWN:
                    del known[next(iter(known))]
                remembered = known[each] = (card, (card.author_id, *card.tagged_ids, *card.mention_ids))
            people.update(remembered[1])
        return people


def _entry(
    card: Post, people: Mapping[AccountId, Account], counts: Counts, buffered: Buffered, standing: Standing
) -> Entry:
    likes: int | None = None
    if not card.hides_like_count or card.author_id == standing.reader:
        likes = buffered.add_to(card.id, counts.like_count, counts.like_batch)
    return Entry(
        card=card,
        author=people[card.author_id],
        people=people,
        like_count=likes,
        comment_count=counts.comment_count,
        has_liked=card.id in standing.liked,
        has_saved=card.id in standing.saved,
    )
