"""Lists of post ids in Redis: a timeline per reader, and a list of their own posts per star.

A list with a conditional push costs a twelfth of a sorted set's memory; ids sort by time anyway. Pushes go only to
lists that exist, so readers who stay away cost nothing. A list may hold repeats after a repeated job and posts that are
gone: the reader sorts that out.
"""

import secrets
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from tintype.base.bringing import Bringing
from tintype.base.ids import AccountId, PostId
from tintype.base.near import Shelf
from tintype.base.scripts import Script, run
from tintype.base.wire import Command, Wire
from tintype.feed.scripts import (
    DROP_MARKED,
    FILL,
    GIVE_UP,
    LONGEST,
    MARK,
    OPEN,
    PUSH,
    RENEW,
)

KEYS_PER_SCRIPT = 200
"""A script blocks every other reader of Redis; this many keys take well under a millisecond."""
SCRIPTS_AT_ONCE = 5
HEAD = 140
"""How many of the newest are read where the newest will do."""
BUCKETS = 256
"""Keys are tagged by bucket, so that in a cluster a script stays within one slot."""
OPEN_MS = 10_000
"""How long a list waits to be filled by somebody who may have died."""
RENEW_EVERY_S = 3_600.0
MOST_RENEWALS = 100_000
MOST_NOTES = 10_000
MOST_NEAR = 5_000


@dataclass(frozen=True)
class Found:
    """What a list holds. One that is not ready yet is being built by somebody else."""

    ids: Sequence[int]
    """Oldest first; some may be there twice."""
    stars: tuple[AccountId, ...] = ()
    is_ready: bool = True
    is_cut: bool = False
    """There is more below."""


class Lists:
    """The lists of one kind."""

    def __init__(
        self,
        wire: Wire,
        name: str,
        *,
        keep_s: int,
        spans_slots: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._wire, self._keep_s, self._spans_slots, self._clock = wire, keep_s, spans_slots, clock
        self._heads = [f"{name}:{{{bucket}}}:" for bucket in range(BUCKETS)]
        self.near: Shelf[int, Found] = wire.near.shelf(self._heads[0], int, MOST_NEAR, *self._heads[1:])
        """Lists that are ready, as they are in Redis; `base/near.py` says who may take them from there."""
        self._renewed: dict[int, float] = {}
        self._renew_every_s = min(RENEW_EVERY_S, keep_s / 4)

    def key(self, owner: int) -> str:
        """Where the list of this account lies. The low bits of an id are mostly zero, its time is not."""
        return self._heads[(owner ^ owner >> 23) & (BUCKETS - 1)] + str(owner)

    def ask(self, owner: AccountId, bringing: Bringing, *, is_head: bool = False) -> None:
        """Ask for a list that is not near; `take` reads the answer.

        The newest part of it is most of the way enough. A post that came late may lie below others that are older than
        it, so that is for readers who do not count on finding all that is newer than the last of them.
        """
        if self._find_near(owner, is_head=is_head) is not None:
            return
        key = self.key(owner)
        wanted = [("LRANGE", key, 0, HEAD - 1), ("LINDEX", key, -1)] if is_head else [("LRANGE", key, 0, -1)]
        bringing.add_for(self.near, owner, *wanted)

    async def take(self, owner: AccountId, bringing: Bringing, *, is_head: bool = False) -> Found | None:
        """The list that was asked for; None when there is none. What has changed since it was near is read anew."""
        answers = bringing.answers_for(self.near, owner)
        if answers is None:
            return self._find_near(owner, is_head=is_head) or await self.read(owner)
        found = _parse_head(*answers) if is_head else _parse_whole(*answers)
        if found is not None and found.is_ready:
            bringing.keep(self.near, owner, found)
        return found

    async def read(self, owner: AccountId) -> Found | None:
        """The whole list as it is in Redis now; None when there is none."""
        [answer] = await self._wire.ask(("LRANGE", self.key(owner), 0, -1))
        return _parse_whole(answer)

    def is_due(self, owner: AccountId) -> bool:
        """Whether it is time to say that a list is to be kept for longer."""
        return self._clock() - self._renewed.get(owner, -RENEW_EVERY_S) >= self._renew_every_s

    async def renew(self, owner: AccountId) -> None:
        """A list that was read is kept for longer; said once in a while, not at every read."""
        now = self._clock()
        if not self.is_due(owner):
            return
        if len(self._renewed) > MOST_RENEWALS:
            self._renewed.clear()
        self._renewed[owner] = now
        await run(self._wire, RENEW, RENEW.call([self.key(owner)], self._keep_s))

    async def push(self, post_id: PostId, owners: Sequence[AccountId], *, before: Sequence[str] = ()) -> int:
        """Put a post on top of those lists that exist; returns how many did.

        Lists of another kind can be named by their keys, of one bucket: the same trip goes there before, uncounted.
        """
        if not before:
            return await self._on_many(PUSH, owners, post_id)
        return await self._on_many(PUSH, owners, post_id, PUSH.call(before, post_id))

    async def mark(self, star: AccountId, owners: Sequence[AccountId]) -> int:
        """Let those lists that exist know of a star; returns how many did."""
        return await self._on_many(MARK, owners, star)

    async def open(self, *owners: AccountId) -> dict[AccountId, str]:
        """Make absent lists exist, so that what happens while they are built reaches them.

        Returns the tokens of those that the caller is to fill.
        """
        token = secrets.token_hex(8)
        calls = [OPEN.call([self.key(owner)], _note(token), OPEN_MS) for owner in owners]
        answers = await run(self._wire, OPEN, *calls)
        return {owner: token for owner, is_ours in zip(owners, answers, strict=True) if is_ours}

    async def fill(
        self, owner: AccountId, token: str, ids: Sequence[int], stars: Sequence[AccountId] = ()
    ) -> bool:
        """Put what the database said (newest first) into the list, unless it was dropped meanwhile."""
        known = "".join(f"{star}," for star in stars)
        call = FILL.call([self.key(owner)], _note(token), self._keep_s, known, *ids[:LONGEST])
        return bool((await run(self._wire, FILL, call))[0])

    async def give_up(self, owner: AccountId, token: str) -> None:
        """Nobody need wait for the list that was opened with this token."""
        await run(self._wire, GIVE_UP, GIVE_UP.call([self.key(owner)], _note(token)))

    async def drop(self, owner: AccountId) -> None:
        """Forget a list, also one that is being built; the next read builds it anew."""
        await self._wire.ask(("DEL", self.key(owner)))

    async def drop_marked(self, owner: AccountId, star: AccountId) -> None:
        """Forget a list if it knows of this star."""
        await run(self._wire, DROP_MARKED, DROP_MARKED.call([self.key(owner)], star))

    def _find_near(self, owner: AccountId, *, is_head: bool) -> Found | None:
        near = self.near.here.get(owner)
        return near if near is not None and (is_head or not near.is_cut) else None

    async def _on_many(
        self, script: Script, owners: Sequence[AccountId], value: int, *before: Command
    ) -> int:
        calls = [script.call(keys, value) for keys in self._batches(owners)]
        answers: list[int] = await run(self._wire, script, *before, *calls[:SCRIPTS_AT_ONCE])
        for start in range(SCRIPTS_AT_ONCE, len(calls), SCRIPTS_AT_ONCE):
            answers += await run(self._wire, script, *calls[start : start + SCRIPTS_AT_ONCE])
        return sum(answers[len(before) :])

    def _batches(self, owners: Sequence[AccountId]) -> Iterator[list[str]]:
        """Keys that go into one script: of any bucket on a single server, of one bucket in a cluster."""
        heads = self._heads
        keys = [
            heads[(owner ^ owner >> 23) & (BUCKETS - 1)] + str(owner) for owner in owners
        ]  # as `key`, inlined
        if self._spans_slots:
            yield from _slices(keys)
            return
        by_bucket: dict[str, list[str]] = {}
        for key in keys:
            by_bucket.setdefault(key[: key.index("}")], []).append(key)
        for some in by_bucket.values():
            yield from _slices(some)


def _parse_whole(answer: list[bytes]) -> Found | None:
    return _parse(answer[:-1], answer[-1], is_cut=False) if answer else None


def _parse_head(answer: list[bytes], note: bytes | None) -> Found | None:
    if not answer or note is None:
        return None
    is_whole = len(answer) < HEAD or answer[-1] == note
    return _parse(answer[:-1] if is_whole else answer, note, is_cut=not is_whole)


def _parse(entries: list[bytes], note: bytes, *, is_cut: bool) -> Found:
    # Decoding one JSON list is several times faster than one int() per entry.
    ids = msgspec.json.decode(b"[" + b",".join(entries) + b"]", type=list[int])
    ids.reverse()
    ids.sort()  # nearly sorted already, which makes this cheap
    return Found(array("q", ids), _stars(note), is_ready=note[:2] == b"=,", is_cut=is_cut)


@lru_cache(maxsize=MOST_NOTES)
def _stars(note: bytes) -> tuple[AccountId, ...]:
    return tuple(AccountId(int(each)) for each in note.split(b",")[1:] if each)


def _note(token: str) -> str:
    return f"?{token}:"


def _slices(keys: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(keys), KEYS_PER_SCRIPT):
        yield keys[start : start + KEYS_PER_SCRIPT]
