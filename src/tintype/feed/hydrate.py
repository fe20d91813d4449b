"""Hydration: of the post ids on a timeline, those the viewer may see and wants to, with everything a response needs.

This is the hottest read of all. Posts, counts and accounts come from the client-side cache (`redis/client_cache.py`),
so the caller must have awaited a reply from Redis since its request came in, as reading the timeline does; what is not
cached is fetched in one round trip. The viewer's state is one query on the viewer's shard, or cached too
(`viewer_state.py`). `graph.visibility_rules` decides what may be seen: the posts on a timeline are of the viewer and
of people the viewer follows, whose content may be seen wherever their account may be.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain, repeat
from operator import is_
from typing import Any

import msgspec
from redis.exceptions import RedisError

from shardwright.routing import Shards
from tintype.accounts import Account, Accounts
from tintype.base.bounded_map import BoundedMap
from tintype.base.ids import AccountId, PostId, has_shard
from tintype.base.log import get_log
from tintype.feed.current_entries import CachedObjects, find_current
from tintype.feed.hydrated import NO_COUNTS, FeedEntry, Hydrated
from tintype.feed.viewer_state import ViewerState, ViewerStates
from tintype.graph import visibility_rules
from tintype.posts import Post, PostCounts, Posts
from tintype.redis.hot_counters import NO_DELTAS, REPLY_COUNT, BufferedDeltas
from tintype.redis.leased_cache import CacheSource, K, LeasedCache, T
from tintype.redis.tracked_read import TrackedRead

MAX_REMEMBERED = 20_000
NOT_CACHED = object()
NO_TAGS: frozenset[str] = frozenset()
log = get_log("feed")


class _FetchedPosts(msgspec.Struct, frozen=True):
    """The posts of a page as they are to everybody."""

    posts: dict[PostId, Post]
    counts: dict[PostId, PostCounts | None]
    buffered: BufferedDeltas = NO_DELTAS


_NO_POSTS = _FetchedPosts({}, {})


class Hydrator:
    """Hydrates posts. Unfollowing, muting, blocking and deleting take effect at once, whatever a timeline holds."""

    def __init__(
        self,
        shards: Shards,
        cache: LeasedCache,
        posts: Posts,
        accounts: Accounts,
        *,
        viewer_states: ViewerStates,
    ) -> None:
        self._shards, self._redis_client, self._cache = shards, cache.redis_client, cache
        self._post_sources, self._account_source = posts.sources(), accounts.source
        self._posts = cache.region(self._post_sources.posts.kind).values
        self._counts = cache.region(self._post_sources.counts.kind).values
        self._accounts = cache.region(self._account_source.kind).values
        self._cached = CachedObjects(self._posts, self._counts, self._accounts)
        self._viewer_states = viewer_states
        self._people_of: BoundedMap[PostId, tuple[Post, tuple[AccountId, ...]]] = BoundedMap(MAX_REMEMBERED)

    def add_to_read(self, viewer: AccountId, read: TrackedRead) -> None:
        """Track changes of the viewer's state from this read on, so that it can be cached; see `from_read`."""
        self._viewer_states.add_to_read(viewer, read)

    def from_read(self, viewer: AccountId, read: TrackedRead) -> ViewerState | None:
        """The viewer's state as of the read, for `hydrate`; it may be cached from now on."""
        return self._viewer_states.from_read(viewer, read)

    async def read(self, viewer: AccountId, ids: Sequence[PostId]) -> list[FeedEntry]:
        """Those of the posts that belong in this viewer's feed now, in the order of `ids`."""
        return (await self.hydrate(viewer, ids)).entries

    async def hydrate(
        self,
        viewer: AccountId,
        ids: Sequence[PostId],
        *,
        has_tags: bool = False,
        state: ViewerState | None = None,
        last: Sequence[Hydrated] = (),
    ) -> Hydrated:
        """`read`, together with the objects the entries were made of.

        With `has_tags`, posts of strangers belong in the feed, too, if they carry a hashtag that the viewer follows.
        `state` is the viewer's as of the request's own read (`from_read`), if there was one. Entries of the viewer's
        `last` page that are still current are not made again.
        """
        if state is None or has_tags or not last or not self._has_no_deltas():
            return await self._hydrate(viewer, ids, state, has_tags=has_tags)
        current = find_current(last, ids, state, self._cached)
        rest = [each for each in ids if each not in current]
        made = await self._hydrate(viewer, rest, state) if rest else Hydrated([], state)
        return made.joined_with(current, ids) if current else made

    async def _hydrate(
        self,
        viewer: AccountId,
        ids: Sequence[PostId],
        state: ViewerState | None = None,
        *,
        has_tags: bool = False,
    ) -> Hydrated:
        cached = self._posts
        wanted = [each for each in dict.fromkeys(ids) if each in cached or has_shard(self._shards, each)]
        fetched = await self._fetch_posts(wanted) if wanted else _NO_POSTS
        people_of = self._find_people(fetched.posts)
        people = set(chain.from_iterable(people_of.values()))
        accounts = await self._fetch_accounts(people)
        state = await self._viewer_states.read(viewer, people, fetched.posts, state)
        visible, authors, counts = state.visible_accounts(accounts), state.authors, fetched.counts
        tags = await self._viewer_states.read_tags(state) if has_tags else NO_TAGS
        entries = [
            _entry(
                post,
                visible,
                counts.get(each) or NO_COUNTS,
                fetched.buffered,
                state,
                people_ids=people_of[each],
            )
            for each, post in fetched.posts.items()
            if visibility_rules.is_listed_post(
                sees_author=post.author_id in visible
                and (post.author_id in authors or (bool(tags) and _is_found(post, tags, visible, state))),
                is_shown=post.is_shown,
            )
        ]
        return Hydrated(
            entries,
            state,
            wanted,
            list(map(fetched.posts.get, wanted)),
            list(map(counts.get, wanted)),
            accounts,
            fetched.buffered is NO_DELTAS,
        )

    def is_current(self, hydrated: Hydrated) -> bool:
        """Whether hydrating again would give the same entries, by the rule of `redis/client_cache.py`."""
        missing = repeat(NOT_CACHED)
        return (
            hydrated.has_no_deltas
            and self._viewer_states.is_current(hydrated.viewer_state)
            and self._has_no_deltas()
            and all(map(is_, map(self._posts.get, hydrated.ids, missing), hydrated.posts))
            and all(map(is_, map(self._counts.get, hydrated.ids, missing), hydrated.counts))
            and all(map(is_, map(self._accounts.get, hydrated.accounts), hydrated.accounts.values()))
        )

    def _has_no_deltas(self) -> bool:
        """Whether the client-side cache knows that no likes are buffered."""
        return self._post_sources.like_counters.is_known_empty(self._redis_client.client_cache)

    async def _fetch_posts(self, wanted: list[PostId]) -> _FetchedPosts:
        """The posts that exist, with their counts: cached ones as they are, the others from Redis or the shards."""
        sources, client_cache = self._post_sources, self._redis_client.client_cache
        cached_posts, cached_counts, likes = self._posts, self._counts, sources.like_counters
        posts = {each: post for each in wanted if (post := cached_posts.get(each)) is not None}
        counts = {each: cached_counts[each] for each in wanted if each in cached_counts}
        has_no_deltas = likes.is_known_empty(client_cache)
        unread = [each for each in wanted if each not in cached_posts] if len(posts) < len(wanted) else ()
        if not unread and has_no_deltas and len(counts) == len(wanted):
            return _FetchedPosts(posts, counts)
        # While likes are buffered, counts and buffers must be of one moment.
        uncounted = [each for each in wanted if each not in cached_counts] if has_no_deltas else wanted
        with closing(TrackedRead(self._redis_client)) as read:
            likes.add_to_read(read, client_cache, wanted)
            self._add_to_read(read, (sources.posts, unread), (sources.counts, uncounted))
            replies = await _execute(read)
            buffered = likes.parse_replies(read, client_cache, wanted, replies) if replies else NO_DELTAS
            remaining = iter(replies[REPLY_COUNT:])
            posts |= await self._resolve(read, sources.posts, unread, remaining)
            counts |= await self._resolve(read, sources.counts, uncounted, remaining)
        return _FetchedPosts({each: posts[each] for each in wanted if each in posts}, counts, buffered)

    async def _fetch_accounts(self, people: Collection[AccountId]) -> dict[AccountId, Account]:
        cached = self._accounts
        accounts = {each: account for each in people if (account := cached.get(each)) is not None}
        if len(accounts) == len(people):
            return accounts
        unread = [each for each in people if each not in cached]
        with closing(TrackedRead(self._redis_client)) as read:
            self._add_to_read(read, (self._account_source, unread))
            remaining = iter(await _execute(read) if unread else ())
            return accounts | await self._resolve(read, self._account_source, unread, remaining)

    def _add_to_read(self, read: TrackedRead, *wanted: tuple[CacheSource[Any, Any], Sequence[int]]) -> None:
        for source, ids in wanted:
            if ids:
                read.add(self._cache.read_command(source.kind, ids), self._cache.region(source.kind), ids)

    async def _resolve(
        self, read: TrackedRead, source: CacheSource[K, T], ids: Sequence[K], replies: Iterator[Any]
    ) -> dict[K, T]:
        """The objects from the next reply; without replies everything is loaded."""
        if not ids:
            return {}
        return await self._cache.resolve(source, ids, next(replies, None) or [None] * len(ids), read)

    def _find_people(self, posts: Mapping[PostId, Post]) -> dict[PostId, tuple[AccountId, ...]]:
        """The authors of these posts and the people tagged and mentioned in them, remembered per post."""
        people_of, found = self._people_of, dict[PostId, tuple[AccountId, ...]]()
        for each, post in posts.items():
            remembered = people_of.get(each)
            if remembered is None or remembered[0] is not post:
                remembered = (post, (post.author_id, *post.tagged_ids, *post.mention_ids))
                people_of[each] = remembered
            found[each] = remembered[1]
        return found


async def _execute(read: TrackedRead) -> list[Any]:
    """The replies; none while Redis is away."""
    try:
        return await read.execute()
    except (RedisError, OSError) as error:
        log.warning("feed.uncached", error=str(error))
        return []


def _is_found(
    post: Post, tags: frozenset[str], visible: Mapping[AccountId, Account], state: ViewerState
) -> bool:
    """Whether a stranger's post is in the feed for one of its hashtags: its author is public and not muted."""
    author = visible[post.author_id]
    return (
        post.author_id not in state.muted
        and visibility_rules.is_public(is_active=author.is_active, is_private=author.is_private)
        and not tags.isdisjoint(post.hashtags)
    )


def _entry(
    post: Post,
    people: Mapping[AccountId, Account],
    counts: PostCounts,
    buffered: BufferedDeltas,
    state: ViewerState,
    *,
    people_ids: tuple[AccountId, ...],
) -> FeedEntry:
    likes: int | None = counts.like_count
    if post.hides_like_count and post.author_id != state.viewer:
        likes = None
    elif buffered is not NO_DELTAS:
        likes = buffered.apply(post.id, counts.like_count, counts.like_batch)
    return FeedEntry(
        cached_post=post,
        author=people[post.author_id],
        people=people,
        people_ids=people_ids,
        counts=counts,
        like_count=likes,
        comment_count=counts.comment_count,
        has_liked=post.id in state.liked,
        has_saved=post.id in state.saved,
        follows_author=post.author_id in state.authors and post.author_id != state.viewer,
    )
