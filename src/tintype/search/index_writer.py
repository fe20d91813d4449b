"""Writes index entries of a subject under many keys, each on its own shard, until the index matches the truth.

There is no transaction over many shards, jobs are repeated, and two may index the same subject at once. So each run
draws a revision on the subject's own shard first, then reads the truth, then records the keys it is going to use, then
writes. At the end it checks whether a newer run has begun in the meantime: that one may not have known of the keys just
written, so this run starts over unless yet another begins after its end. A run that dies is repeated by its job. Every
change is announced after its commit, and the run for it draws a higher revision, so the last run has read the latest
truth.

A key is never removed from the recorded ones while its subject exists: a late write under a removed key would stay.
"""

import asyncio
import math
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from shardwright.routing import Shard, Shards
from tintype.base.errors import Unavailable
from tintype.search.prefixes import index_prefixes
from tintype.search.store import QUERIES

MAX_ATTEMPTS = 20
PAUSE_S = 0.05
WEIGHT_PER_DOUBLING = 4


@dataclass(frozen=True)
class IndexEntry:
    """One word under which a subject can be found."""

    term: str
    words: str
    weight: int
    detail: str = ""
    posted_at: datetime | None = None
    """Of a post in a topic: its own time, where that is not the time in its id."""


@dataclass(frozen=True)
class IndexedSubject:
    """What is indexed, and the shard that records its revision and keys."""

    home: Shard
    kind: str
    name: str
    owner_id: int = 0
    """The account it belongs to; 0 for what belongs to nobody."""
    probable_keys: frozenset[str] = frozenset()
    """Keys that it will probably be indexed under: recorded at once, they cost no statement of their own."""


EntriesByKey = Mapping[str, Sequence[IndexEntry]]
Read = Callable[[], Awaitable[EntriesByKey]]
Write = Callable[[str, int, Sequence[IndexEntry]], Awaitable[None]]


class IndexWriter:
    """Brings the index entries of a subject in line with the truth."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def reindex(self, subject: IndexedSubject, read: Read) -> None:
        """When this returns, the subject is indexed under exactly the keys and entries that `read` returned."""

        async def write(key: str, revision: int, entries: Sequence[IndexEntry]) -> None:
            await self._write_entries(subject.name, key, revision, entries)

        await self.run(subject, read, write)

    async def run(self, subject: IndexedSubject, read: Read, write: Write) -> None:
        """The same protocol with a `write` of the caller's; it is called for every key the subject ever had."""
        for attempt in range(1, MAX_ATTEMPTS + 1):
            if await self._run_once(subject, read, write) or await self._has_newer_run(subject, attempt):
                return
        raise Unavailable("Indexing was overtaken again and again.", kind=subject.kind)

    async def remove(self, subject: IndexedSubject) -> None:
        """The subject is not indexed under any key."""
        await self.reindex(subject, _no_entries)

    async def _run_once(self, subject: IndexedSubject, read: Read, write: Write) -> bool:
        who = {"kind": subject.kind, "subject": subject.name}
        begun = await subject.home.fetch_one(
            QUERIES.begin_indexing, **who, owner_id=subject.owner_id, keys=sorted(subject.probable_keys)
        )
        assert begun is not None, "an INSERT … RETURNING returns its row"  # noqa: S101 - narrows the type
        revision: int = begun["revision"]
        wanted = await read()
        keys = {*begun["keys"], *wanted}
        if keys != set(begun["keys"]):
            await subject.home.execute(QUERIES.record_keys, **who, keys=sorted(keys))
        for key in sorted(wanted if begun["is_first"] else keys):
            await write(key, revision, wanted.get(key, ()))
        if wanted:
            weight = max(entry.weight for entries in wanted.values() for entry in entries)
            ended = await subject.home.execute(QUERIES.end_indexing, **who, revision=revision, weight=weight)
        else:
            ended = await subject.home.execute(QUERIES.delete_indexed, **who, revision=revision)
        return ended == 1

    async def _has_newer_run(self, subject: IndexedSubject, attempt: int) -> bool:
        """Whether a run began after ours ended, and so knows of all we wrote. The pause lets one run go alone."""
        before = await self._newest(subject)
        await asyncio.sleep(random.uniform(0, PAUSE_S * attempt))  # noqa: S311 - jitter, not a secret
        newest = await self._newest(subject)
        return newest is not None and newest != before

    async def _newest(self, subject: IndexedSubject) -> int | None:
        row = await subject.home.fetch_one(QUERIES.find_indexed, kind=subject.kind, subject=subject.name)
        return row["revision"] if row else None

    async def _write_entries(
        self, subject: str, key: str, revision: int, entries: Sequence[IndexEntry]
    ) -> None:
        await self._shards.of(key).execute(
            QUERIES.put_entries,
            key=key,
            subject=subject,
            revision=revision,
            terms=[each.term for each in entries],
            words=[each.words for each in entries],
            weights=[each.weight for each in entries],
            details=[each.detail for each in entries],
        )


def entries_of(kind: str, terms: Iterable[str], weight: int, detail: str = "") -> dict[str, list[IndexEntry]]:
    """The entries of a subject with these words, by key."""
    listed = list(dict.fromkeys(terms))
    words = "".join(f" {term}" for term in listed)
    wanted: dict[str, list[IndexEntry]] = {}
    for term in listed:
        for prefix in index_prefixes(term):
            wanted.setdefault(f"{kind}:{prefix}", []).append(IndexEntry(term, words, weight, detail))
    return wanted


def popularity_weight(count: int) -> int:
    """A count of followers or posts in steps of about a fifth, so that entries are rewritten seldom."""
    return 1 + int(WEIGHT_PER_DOUBLING * math.log2(count)) if count > 0 else 0


async def _no_entries() -> EntriesByKey:
    return {}
