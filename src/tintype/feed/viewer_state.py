"""Viewer state: whom a viewer follows, mutes and blocks, and what they liked and saved, as far as pages needed it.

Read with one query on the viewer's shard, then cached in this process until the viewer changes any of it
(`redis/viewer_invalidation.py`), and for a minute at most. What a like or
a save has changed is changed here, too.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping

from shardwright.routing import Shards
from tintype.accounts import Account
from tintype.base.bounded_map import BoundedMap
from tintype.base.ids import AccountId, PostId
from tintype.feed.store import QUERIES
from tintype.graph import visibility_rules
from tintype.redis.client_cache import Region
from tintype.redis.tracked_read import TrackedRead
from tintype.redis.viewer_invalidation import (
    MAX_AGE_S,
    PostChange,
    ViewerInvalidation,
    changes_since,
    last_entry,
)

MAX_CACHED = 5_000
MAX_POSTS = 1_000
"""The state of somebody who scrolls on and on is dropped after so many posts."""


class ViewerState:
    """What is known so far of one viewer's relation to people and posts. It only ever grows."""

    __slots__ = (
        "authors",
        "blocked",
        "connection",
        "created_at",
        "entry",
        "like_changes",
        "liked",
        "muted",
        "people",
        "posts",
        "saved",
        "tags",
        "viewer",
    )

    def __init__(
        self, viewer: AccountId, created_at: float, *, entry: bytes = b"", connection: int = 0
    ) -> None:
        self.viewer, self.created_at = viewer, created_at
        self.entry, self.connection = entry, connection
        """The last entry of the viewer's key when this state was begun, and the connection that read it."""
        self.people: set[int] = set()
        """The people whose relation to the viewer has been read: one object for as long as no relation changes."""
        self.posts: set[int] = set()
        """The posts of which likes and saves have been read."""
        self.blocked: set[int] = set()
        self.muted: set[int] = set()
        self.liked: set[int] = set()
        self.like_changes: dict[int, int] = {}
        """The last change of the viewer's like, by post; none where there never was one."""
        self.saved: set[int] = set()
        self.authors: set[int] = {viewer}
        """Whose posts belong in the viewer's feed: the viewer, and whom they follow and have not muted."""
        self.tags: frozenset[str] | None = None
        """The hashtags that the viewer follows; None where no page has needed them."""

    def after(self, changes: Iterable[PostChange], entry: bytes) -> "ViewerState":
        """A state of its own that differs by these changes; pages that were made of this one are not current.

        What is known of people is shared by both. No such change concerns it; one that does makes an empty state.
        """
        made = ViewerState(self.viewer, self.created_at, entry=entry, connection=self.connection)
        made.people, made.authors = self.people, self.authors
        made.blocked, made.muted, made.tags = self.blocked, self.muted, self.tags
        made.posts, made.liked, made.saved = set(self.posts), set(self.liked), set(self.saved)
        made.like_changes = dict(self.like_changes)
        for change in changes:
            made._apply(change)
        return made

    def _apply(self, change: PostChange) -> None:
        post = change.post_id
        if change.is_liked is None:
            for known in (self.posts, self.liked, self.saved):
                known.discard(post)
        elif post in self.posts and change.change_id > self.like_changes.get(post, 0):
            self.like_changes[post] = change.change_id
            (self.liked.add if change.is_liked else self.liked.discard)(post)

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
        self._last: BoundedMap[AccountId, ViewerState] = BoundedMap(MAX_CACHED)
        """The last state of each viewer, whether it has been invalidated since or not."""

    def add_to_read(self, viewer: AccountId, read: TrackedRead) -> None:
        """Track changes of this viewer from this read on, unless their state is cached already."""
        if self.find(viewer) is None:
            self._invalidation.track(viewer, read, self._region)

    def from_read(self, viewer: AccountId, read: TrackedRead) -> ViewerState | None:
        """The viewer's state after the read: what is still true of the last one, or an empty one, which `read` fills.

        It is cached, unless an invalidation came in the meantime: then it is good for this request, which had begun
        before the read, and later changes can be added to it. None where it was cached before and is no longer.
        """
        replies = read.group_replies(self._region, viewer)
        if replies is None:
            return self.find(viewer)
        state = self._begin(viewer, replies[0] or b"")
        read.store(self._region, viewer, state)
        if self._invalidation.is_tracking:
            self._last[viewer] = state
        return state

    def is_current(self, state: ViewerState) -> bool:
        """Whether this state is still cached, and so still true, by the rule of `redis/client_cache.py`."""
        return self.find(state.viewer) is state

    async def read(
        self,
        viewer: AccountId,
        people: Collection[AccountId],
        posts: Collection[PostId],
        state: ViewerState | None = None,
    ) -> ViewerState:
        """The viewer's state, with at least these people and posts in it: the request's own, or else the cached one."""
        state = state or self.find(viewer) or ViewerState(viewer, self._clock())
        if not (state.people.issuperset(people) and state.posts.issuperset(posts)):
            await self.extend(state, list(set(people) - state.people), list(set(posts) - state.posts))
        return state

    async def read_tags(self, state: ViewerState) -> frozenset[str]:
        """The hashtags that the viewer follows, read once per state."""
        if state.tags is None:
            rows = await self._shards.owner(state.viewer).fetch(
                QUERIES.list_followed_tags, account_id=state.viewer
            )
            state.tags = frozenset(row["tag"] for row in rows)
        return state.tags

    async def extend(self, state: ViewerState, people: list[AccountId], posts: list[PostId]) -> None:
        """Read these people and posts into the state. A change that comes meanwhile drops the state from the cache."""
        row = await self._shards.owner(state.viewer).fetch_one(
            QUERIES.read_viewer_state, viewer_id=state.viewer, people=people, posts=posts
        )
        if row is not None:
            followed, muted, blocked, liked, saved = row
            state.authors.update(set(followed).difference(muted))
            state.blocked.update(blocked)
            state.muted.update(muted)
            state.like_changes.update((post, change_id) for post, change_id, _ in liked)
            state.liked.update(post for post, _, is_active in liked if is_active)
            state.saved.update(saved)
        state.people.update(people)
        state.posts.update(posts)

    def _begin(self, viewer: AccountId, marker: bytes) -> ViewerState:
        """The state to cache for what the viewer's key holds now."""
        last, connection = self._last.get(viewer), self._invalidation.connection_number
        # After another connection the key may be an older one: of a replica that has taken over.
        if last is not None and last.connection == connection and self._is_usable(last):
            changes = changes_since(last.entry, marker)
            if changes is not None:
                return last.after(changes, last_entry(marker))
        return ViewerState(viewer, self._clock(), entry=last_entry(marker), connection=connection)

    def find(self, viewer: AccountId) -> ViewerState | None:
        """The viewer's state, if it is cached."""
        state = self._cached.get(viewer)
        return state if state is not None and self._is_usable(state) else None

    def _is_usable(self, state: ViewerState) -> bool:
        return self._clock() - state.created_at < MAX_AGE_S and len(state.posts) < MAX_POSTS
