"""Viewer state: whom a viewer follows, mutes and blocks, and what they liked and saved, as far as pages needed it.

Read with one query on the viewer's shard, then cached in this process until the viewer changes any of it
(`redis/viewer_invalidation.py`), and for a minute at most.
"""

import time
from collections.abc import Callable, Collection, Mapping

from shardwright.routing import Shards
from tintype.accounts import Account
from tintype.base.ids import AccountId, PostId
from tintype.feed.store import QUERIES
from tintype.graph import visibility_rules
from tintype.redis.client_cache import Region
from tintype.redis.tracked_read import TrackedRead
from tintype.redis.viewer_invalidation import MAX_AGE_S, ViewerInvalidation

MAX_CACHED = 5_000
MAX_POSTS = 1_000
"""The state of somebody who scrolls on and on is dropped after so many posts."""


class ViewerState:
    """What is known so far of one viewer's relation to people and posts. It only ever grows."""

    __slots__ = ("authors", "blocked", "created_at", "liked", "people", "posts", "saved", "viewer")

    def __init__(self, viewer: AccountId, created_at: float) -> None:
        self.viewer, self.created_at = viewer, created_at
        self.people: set[int] = set()
        """The people whose relation to the viewer has been read."""
        self.posts: set[int] = set()
        """The posts of which likes and saves have been read."""
        self.blocked: set[int] = set()
        self.liked: set[int] = set()
        self.saved: set[int] = set()
        self.authors: set[int] = {viewer}
        """Whose posts belong in the viewer's feed: the viewer, and whom they follow and have not muted."""

    def visible_accounts(self, accounts: Mapping[AccountId, Account]) -> dict[AccountId, Account]:
        """Those of the accounts that the viewer may see: active and without a block in between, or their own."""
        return {
            each: account
            for each, account in accounts.items()
            if visibility_rules.may_see_account(
                is_self=each == self.viewer,
                is_active=account.status == "active",
                has_block=each in self.blocked,
            )
        }


class ViewerStates:
    """Reads the state of viewers and caches it in this process."""

    def __init__(
        self,
        shards: Shards,
        invalidation: ViewerInvalidation,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._shards, self._invalidation, self._clock = shards, invalidation, clock
        self._region: Region[int, ViewerState] = invalidation.region(MAX_CACHED)
        self._cached = self._region.values

    def add_to_read(self, viewer: AccountId, read: TrackedRead) -> None:
        """Track changes of this viewer from this read on, unless their state is cached already."""
        if self._find(viewer) is None:
            self._invalidation.track(viewer, read, self._region)

    def from_read(self, viewer: AccountId, read: TrackedRead) -> None:
        """Cache an empty state after the read; `read` fills it."""
        read.store(self._region, viewer, ViewerState(viewer, self._clock()))

    def is_current(self, state: ViewerState) -> bool:
        """Whether this state is still cached, and so still true, by the rule of `redis/client_cache.py`."""
        return self._find(state.viewer) is state

    async def read(
        self, viewer: AccountId, people: Collection[AccountId], posts: Collection[PostId]
    ) -> ViewerState:
        """The viewer's state, with at least these people and posts in it."""
        state = self._find(viewer) or ViewerState(viewer, self._clock())
        if not (state.people.issuperset(people) and state.posts.issuperset(posts)):
            await self._extend(state, list(set(people) - state.people), list(set(posts) - state.posts))
        return state

    async def _extend(self, state: ViewerState, people: list[AccountId], posts: list[PostId]) -> None:
        """Read these people and posts into the state. A change that comes meanwhile drops the state from the cache."""
        row = await self._shards.owner(state.viewer).fetch_one(
            QUERIES.read_viewer_state, viewer_id=state.viewer, people=people, posts=posts
        )
        if row is not None:
            followed, muted, blocked, liked, saved = row
            state.authors.update(set(followed).difference(muted))
            state.blocked.update(blocked)
            state.liked.update(liked)
            state.saved.update(saved)
        state.people.update(people)
        state.posts.update(posts)

    def _find(self, viewer: AccountId) -> ViewerState | None:
        state = self._cached.get(viewer)
        is_usable = (
            state is not None
            and self._clock() - state.created_at < MAX_AGE_S
            and len(state.posts) < MAX_POSTS
        )
        return state if is_usable else None
