"""Lists of post ids in Redis: a timeline per reader, and per celebrity a list of their own posts.

A list with a conditional push costs a twelfth of a sorted set's memory; ids sort by time anyway. Pushes go only to
lists that exist, so readers who stay away cost nothing. A list may hold duplicates after a repeated job, and posts
that are gone: the reader filters them out.
"""

import secrets
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from tintype.base.bounded_map import BoundedMap
from tintype.base.ids import AccountId, PostId
from tintype.feed.scripts import (
    ABANDON_BUILD,
    BEGIN_BUILD,
    DELETE_MARKED,
    EXTEND,
    FILL,
    MARK,
    MAX_LENGTH,
    PUSH,
)
from tintype.redis.client import Command, RedisClient
from tintype.redis.client_cache import Region
from tintype.redis.scripts import Script, run
from tintype.redis.tracked_read import TrackedRead

KEYS_PER_SCRIPT = 200
"""A script blocks every other client of Redis; this many keys take well under a millisecond."""
SCRIPTS_AT_ONCE = 5
HEAD_LENGTH = 140
"""How many of the newest ids are read where the head of a list is enough."""
BUCKETS = 256
"""Keys are hash-tagged by bucket, so that in a cluster a script stays within one slot."""
BUILD_TTL_MS = 10_000
"""How long a list waits to be filled by a builder that may have died."""
EXTEND_EVERY_S = 3_600.0
MAX_EXTENSIONS = 100_000
MAX_FOOTERS = 10_000
MAX_CACHED = 5_000


@dataclass(frozen=True)
class PostList:
    """The content of a list. One that is not ready is being built by somebody else."""

    ids: Sequence[int]
    """Oldest first; there may be duplicates."""
    celebrities: tuple[AccountId, ...] = ()
    is_ready: bool = True
    is_head: bool = False
    """Only the newest part was read: there is more below."""


class PostLists:
    """The lists of one kind, by the account that owns them."""

    def __init__(
        self,
        redis_client: RedisClient,
        name: str,
        *,
        ttl_s: int,
        spans_slots: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._redis_client, self._ttl_s, self._spans_slots, self._clock = (
            redis_client,
            ttl_s,
            spans_slots,
            clock,
        )
        self._prefixes = [f"{name}:{{{bucket}}}:" for bucket in range(BUCKETS)]
        self.cached: Region[int, PostList] = redis_client.client_cache.region(
            self._prefixes[0], int, MAX_CACHED, *self._prefixes[1:]
        )
        """Client-side cache of lists that are ready; see `redis/client_cache.py`."""
        self._extended_at: BoundedMap[int, float] = BoundedMap(MAX_EXTENSIONS)
        self._extend_every_s = min(EXTEND_EVERY_S, ttl_s / 4)

    def key(self, owner: int) -> str:
        """The key of this account's list. The low bits of an id are mostly zero, those of its time are not."""
        return self._prefixes[(owner ^ owner >> 23) & (BUCKETS - 1)] + str(owner)

    def add_to_read(self, owner: AccountId, read: TrackedRead, *, only_head: bool = False) -> None:
        """Add the commands for a list that is not in the client-side cache; `from_read` parses the replies.

        The head of a list is mostly enough. A post that arrived late may lie below older ones, so the head is for
        callers who do not count on getting everything that is newer than its last id.
        """
        if self._find_cached(owner, only_head=only_head) is not None:
            return
        key = self.key(owner)
        commands = (
            [("LRANGE", key, 0, HEAD_LENGTH - 1), ("LINDEX", key, -1)]
            if only_head
            else [("LRANGE", key, 0, -1)]
        )
        read.add_group(self.cached, owner, *commands)

    async def from_read(
        self, owner: AccountId, read: TrackedRead, *, only_head: bool = False
    ) -> PostList | None:
        """The list after `add_to_read` and the read; None when there is none.

        A cached list that was invalidated in between is read again.
        """
        replies = read.group_replies(self.cached, owner)
        if replies is None:
            return self._find_cached(owner, only_head=only_head) or await self.read(owner)
        found = _parse_head(*replies) if only_head else _parse_whole(*replies)
        if found is not None and found.is_ready:
            read.store(self.cached, owner, found)
        return found

    async def read(self, owner: AccountId) -> PostList | None:
        """The whole list as it is in Redis now; None when there is none."""
        [reply] = await self._redis_client.execute(("LRANGE", self.key(owner), 0, -1))
        return _parse_whole(reply)

    def is_extension_due(self, owner: AccountId) -> bool:
        """Whether `extend` would extend the list's lifetime now."""
        return self._clock() - self._extended_at.get(owner, -EXTEND_EVERY_S) >= self._extend_every_s

    async def extend(self, owner: AccountId) -> None:
        """Extend the lifetime of a list that was read; done once in a while, not at every read."""
        if not self.is_extension_due(owner):
            return
        self._extended_at[owner] = self._clock()
        await run(self._redis_client, EXTEND, EXTEND.call([self.key(owner)], self._ttl_s))

    async def push(
        self, post_id: PostId, owners: Sequence[AccountId], *, extra_keys: Sequence[str] = ()
    ) -> int:
        """Push a post onto those of the lists that exist; returns how many did.

        `extra_keys` are lists of another kind, all of one bucket, that get the post first, in the same round trip;
        they are not counted.
        """
        if not extra_keys:
            return await self._run_on_many(PUSH, owners, post_id)
        return await self._run_on_many(PUSH, owners, post_id, PUSH.call(extra_keys, post_id))

    async def mark(self, celebrity: AccountId, owners: Sequence[AccountId]) -> int:
        """Mark those of the lists that exist to merge this celebrity's own list; returns how many did."""
        return await self._run_on_many(MARK, owners, celebrity)

    async def begin_build(self, *owners: AccountId) -> dict[AccountId, str]:
        """Create absent lists, so that what is pushed while they are built reaches them.

        Returns the tokens of those that the caller is to fill.
        """
        token = secrets.token_hex(8)
        calls = [BEGIN_BUILD.call([self.key(owner)], _build_footer(token), BUILD_TTL_MS) for owner in owners]
        replies = await run(self._redis_client, BEGIN_BUILD, *calls)
        return {owner: token for owner, is_ours in zip(owners, replies, strict=True) if is_ours}

    async def fill(
        self, owner: AccountId, token: str, ids: Sequence[int], celebrities: Sequence[AccountId] = ()
    ) -> bool:
        """Put what was built (newest first) into the list, unless it was deleted meanwhile."""
        marks = "".join(f"{celebrity}," for celebrity in celebrities)
        call = FILL.call([self.key(owner)], _build_footer(token), self._ttl_s, marks, *ids[:MAX_LENGTH])
        return bool((await run(self._redis_client, FILL, call))[0])

    async def abandon_build(self, owner: AccountId, token: str) -> None:
        """Delete the list of this token, so that nobody waits for it to be filled."""
        call = ABANDON_BUILD.call([self.key(owner)], _build_footer(token))
        await run(self._redis_client, ABANDON_BUILD, call)

    async def delete(self, *owners: AccountId) -> None:
        """Delete lists, even those that are being built; the next read builds them again."""
        await self._redis_client.execute(*(self.delete_command(each) for each in owners))

    def delete_command(self, owner: AccountId) -> Command:
        """The command of `delete`, for a caller who sends others in the same round trip."""
        return ("DEL", self.key(owner))

    async def delete_marked(self, owner: AccountId, celebrity: AccountId) -> None:
        """Delete a list if it is marked with this celebrity."""
        await run(self._redis_client, DELETE_MARKED, DELETE_MARKED.call([self.key(owner)], celebrity))

    def _find_cached(self, owner: AccountId, *, only_head: bool) -> PostList | None:
        cached = self.cached.values.get(owner)
        return cached if cached is not None and (only_head or not cached.is_head) else None

    async def _run_on_many(
        self, script: Script, owners: Sequence[AccountId], value: int, *first: Command
    ) -> int:
        calls = [script.call(keys, value) for keys in self._key_batches(owners)]
        replies: list[int] = await run(self._redis_client, script, *first, *calls[:SCRIPTS_AT_ONCE])
        for start in range(SCRIPTS_AT_ONCE, len(calls), SCRIPTS_AT_ONCE):
            replies += await run(self._redis_client, script, *calls[start : start + SCRIPTS_AT_ONCE])
        return sum(replies[len(first) :])

    def _key_batches(self, owners: Sequence[AccountId]) -> Iterator[list[str]]:
        """Keys that go into one script: of any bucket on a single server, of one bucket in a cluster."""
        prefixes = self._prefixes
        keys = [
            prefixes[(owner ^ owner >> 23) & (BUCKETS - 1)] + str(owner) for owner in owners
        ]  # as `key`, inlined
        if self._spans_slots:
            yield from _slices(keys)
            return
        by_bucket: dict[str, list[str]] = {}
        for key in keys:
            by_bucket.setdefault(key[: key.index("}")], []).append(key)
        for some in by_bucket.values():
            yield from _slices(some)


def _parse_whole(reply: list[bytes]) -> PostList | None:
    return _parse(reply[:-1], reply[-1], is_head=False) if reply else None


def _parse_head(reply: list[bytes], footer: bytes | None) -> PostList | None:
    if not reply or footer is None:
        return None
    is_whole = len(reply) < HEAD_LENGTH or reply[-1] == footer
    return _parse(reply[:-1] if is_whole else reply, footer, is_head=not is_whole)


def _parse(entries: list[bytes], footer: bytes, *, is_head: bool) -> PostList:
    # Decoding one JSON list is several times faster than one int() per entry.
    ids = msgspec.json.decode(b"[" + b",".join(entries) + b"]", type=list[int])
    ids.reverse()
    ids.sort()  # nearly sorted already, which makes this cheap
    return PostList(array("q", ids), _celebrities(footer), is_ready=footer[:2] == b"=,", is_head=is_head)


@lru_cache(maxsize=MAX_FOOTERS)
def _celebrities(footer: bytes) -> tuple[AccountId, ...]:
    return tuple(AccountId(int(each)) for each in footer.split(b",")[1:] if each)


def _build_footer(token: str) -> str:
    return f"?{token}:"


def _slices(keys: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(keys), KEYS_PER_SCRIPT):
        yield keys[start : start + KEYS_PER_SCRIPT]
