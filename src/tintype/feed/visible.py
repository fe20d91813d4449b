"""Of the posts on a timeline, those that the reader may see and wants to, with everything an answer needs of them.

This is the hottest read of the house. Cards, numbers and people are taken from what is near (`base/near.py`), so the
caller must have asked Redis something since its request came in, as reading the timeline does; what is not near is
asked for in one round trip and stays near. How the reader stands to all of them is one query on the reader's shard, or
was asked before. The rules are those of `graph.Sight` and `posts.Posts`; a test compares both on random worlds.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import repeat
from operator import is_
from typing import Any

import msgspec
from redis.exceptions import RedisError

from shardwright.running import Shards
from tintype.accounts import Account, Accounts
from tintype.base.bringing import Bringing
from tintype.base.cache import Cache, K, Source, T
from tintype.base.counting import ANSWERS, NOTHING, Buffered
from tintype.base.ids import AccountId, PostId, has_shard
from tintype.base.log import get_log
from tintype.feed.stances import Stance, Stances
from tintype.posts import Counts, Post, Posts

MOST_KNOWN = 20_000
NO_COUNTS = Counts(0, 0, 0, 0)
GONE = object()
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


class Look(msgspec.Struct, frozen=True):
    """Some posts as a reader sees them, and what that was made of."""

    entries: list[Entry]
    stance: Stance
    ids: Sequence[PostId] = ()
    cards: Sequence[Post | None] = ()
    counts: Sequence[Counts | None] = ()
    accounts: Mapping[AccountId, Account] = {}
    is_quiet: bool = True
    """Nothing was added to the counts."""


class Found(msgspec.Struct, frozen=True):
    """What the posts of a page are to everybody."""

    cards: dict[PostId, Post]
    counts: dict[PostId, Counts | None]
    buffered: Buffered = NOTHING


NO_POSTS = Found({}, {})


class Visible:
    """Unfollowing, muting, blocking and removing show at once, whatever a timeline holds."""

    def __init__(
        self, shards: Shards, cache: Cache, posts: Posts, accounts: Accounts, *, stances: Stances
    ) -> None:
        self._shards, self._wire, self._cache = shards, cache.wire, cache
        self._posts, self._people = posts.sources(), accounts.cards
        self._cards = cache.shelf(self._posts.cards.kind).here
        self._counts = cache.shelf(self._posts.counts.kind).here
        self._accounts = cache.shelf(self._people.kind).here
        self._stances = stances
        self._known: dict[PostId, tuple[Post, tuple[AccountId, ...]]] = {}

    def ask(self, reader: AccountId, bringing: Bringing) -> None:
        """What to ask of the reader along with other things, so that what is read can be remembered; for `take`."""
        self._stances.ask(reader, bringing)

    def take(self, reader: AccountId, bringing: Bringing) -> None:
        """It was asked."""
        self._stances.take(reader, bringing)

    async def read(self, reader: AccountId, ids: Sequence[PostId]) -> list[Entry]:
        """Those of the posts that belong into this reader's feed now, in the order of `ids`."""
        return (await self.look(reader, ids)).entries

    async def look(self, reader: AccountId, ids: Sequence[PostId]) -> Look:
        """The same, with what it was made of."""
        near = self._cards
        wanted = [each for each in dict.fromkeys(ids) if each in near or has_shard(self._shards, each)]
        found = await self._find(wanted) if wanted else NO_POSTS
        people = self._everybody(found.cards)
        accounts = await self._find_people(people)
        stance = await self._stances.read(reader, people, found.cards)
        seen, authors, counts = stance.known_of(accounts), stance.authors, found.counts
        entries = [
            _entry(card, seen, counts.get(each) or NO_COUNTS, found.buffered, stance)
            for each, card in found.cards.items()
            if card.author_id in authors and card.author_id in seen and card.is_shown
        ]
        return Look(
            entries,
            stance,
            wanted,
            list(map(found.cards.get, wanted)),
            list(map(counts.get, wanted)),
            accounts,
            found.buffered is NOTHING,
        )

    def holds(self, look: Look) -> bool:
        """Whether the very same would be seen now, by the rule of `base/near.py`."""
        gone = repeat(GONE)
        return (
            look.is_quiet
            and self._stances.holds(look.stance)
            and self._posts.likes.is_quiet(self._wire.near)
            and all(map(is_, map(self._cards.get, look.ids, gone), look.cards))
            and all(map(is_, map(self._counts.get, look.ids, gone), look.counts))
            and all(map(is_, map(self._accounts.get, look.accounts), look.accounts.values()))
        )

    async def _find(self, wanted: list[PostId]) -> Found:
        """The cards and numbers of those posts that exist: near ones as they are, the others brought near."""
        cards, counts, likes, near = self._cards, self._counts, self._posts.likes, self._wire.near
        known = {each: card for each in wanted if (card := cards.get(each)) is not None}
        numbered = {each: counts[each] for each in wanted if each in counts}
        is_quiet = likes.is_quiet(near)
        unread = [each for each in wanted if each not in cards] if len(known) < len(wanted) else ()
        if not unread and is_quiet and len(numbered) == len(wanted):
            return Found(known, numbered)
        # While likes are buffered, numbers and buffers must be of one moment.
        uncounted = [each for each in wanted if each not in counts] if is_quiet else wanted
        with closing(Bringing(self._wire)) as bringing:
            likes.ask(bringing, near, wanted)
            self._ask(bringing, (self._posts.cards, unread), (self._posts.counts, uncounted))
            answers = await _answers(bringing)
            buffered = likes.read(bringing, near, wanted, answers) if answers else NOTHING
            brought = iter(answers[ANSWERS:])
            known |= await self._settle(bringing, self._posts.cards, unread, brought)
            numbered |= await self._settle(bringing, self._posts.counts, uncounted, brought)
        return Found({each: known[each] for each in wanted if each in known}, numbered, buffered)

    async def _find_people(self, people: Collection[AccountId]) -> dict[AccountId, Account]:
        near = self._accounts
        known = {each: account for each in people if (account := near.get(each)) is not None}
        if len(known) == len(people):
            return known
        lacking = [each for each in people if each not in near]
        with closing(Bringing(self._wire)) as bringing:
            self._ask(bringing, (self._people, lacking))
            brought = iter(await _answers(bringing) if lacking else ())
            return known | await self._settle(bringing, self._people, lacking, brought)

    def _ask(self, bringing: Bringing, *wanted: tuple[Source[Any, Any], Sequence[int]]) -> None:
        for source, ids in wanted:
            if ids:
                bringing.add(self._cache.command(source.kind, ids), self._cache.shelf(source.kind), ids)

    async def _settle(
        self, bringing: Bringing, source: Source[K, T], ids: Sequence[K], brought: Iterator[Any]
    ) -> dict[K, T]:
        """What the next answer says of these; without answers everything is loaded."""
        if not ids:
            return {}
        return await self._cache.settle(source, ids, next(brought, None) or [None] * len(ids), bringing)

    def _everybody(self, cards: Mapping[PostId, Post]) -> set[AccountId]:
        """The people in these posts. Finding them in a card costs more than remembering them."""
        known, people = self._known, set[AccountId]()
        for each, card in cards.items():
            remembered = known.get(each)
            if remembered is None or remembered[0] is not card:
                if remembered is None and len(known) >= MOST_KNOWN:
                    del known[next(iter(known))]
                remembered = known[each] = (card, (card.author_id, *card.tagged_ids, *card.mention_ids))
            people.update(remembered[1])
        return people


async def _answers(bringing: Bringing) -> list[Any]:
    """What Redis said; nothing while it is away."""
    try:
        return await bringing.ask()
    except (RedisError, OSError) as error:
        log.warning("feed.uncached", error=str(error))
        return []


def _entry(
    card: Post, people: Mapping[AccountId, Account], counts: Counts, buffered: Buffered, stance: Stance
) -> Entry:
    likes: int | None = counts.like_count
    if card.hides_like_count and card.author_id != stance.reader:
        likes = None
    elif buffered is not NOTHING:
        likes = buffered.add_to(card.id, counts.like_count, counts.like_batch)
    return Entry(
        card=card,
        author=people[card.author_id],
        people=people,
        like_count=likes,
        comment_count=counts.comment_count,
        has_liked=card.id in stance.liked,
        has_saved=card.id in stance.saved,
    )
