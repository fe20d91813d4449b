"""Files something under many keys, each on its own shard, so that what is filed becomes what is true.

There is no transaction over many shards, jobs are repeated, and two may file the same thing at once. So each run draws
a revision on the thing's own shard first, then reads the truth, then notes the keys it is going to use, then writes. At
the end it looks whether a newer run has begun in the meantime: that one may not have known of the keys just written,
so unless yet another begins after this end it does it all again. A run that dies is repeated by its job. Every change
is announced after its commit, and the run for it draws a higher revision, so the last run has read the latest truth.

A key is never struck off the list while its thing exists: a forgotten key could hide a late write for ever.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shardwright.running import Queries, Shard, Shards
from tintype.base.errors import Unavailable

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
MOST_ROUNDS = 20
PAUSE_S = 0.05


@dataclass(frozen=True)
class Entry:
    """One word under which something can be found."""

    term: str
    words: str
    weight: int
    detail: str = ""


@dataclass(frozen=True)
class Subject:
    """What is filed, and the shard that knows where."""

    home: Shard
    kind: str
    name: str
    owner_id: int = 0
    """Whose it is; 0 for what is nobody's."""


Wanted = Mapping[str, Sequence[Entry]]
Write = Callable[[str, int, Sequence[Entry]], Awaitable[None]]


class Filer:
    """Keeps entries in line with the truth."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def refile(
        self,
        subject: Subject,
        read: Callable[[], Awaitable[Wanted]],
    ) -> None:
        """What `read` returns is filed under its keys when this ends, and nothing else of the subject's."""

        async def write(key: str, revision: int, entries: Sequence[Entry]) -> None:
            await self._write_entries(subject.name, key, revision, entries)

        await self.run(subject, read, write)

    async def run(
        self,
        subject: Subject,
        read: Callable[[], Awaitable[Wanted]],
        write: Write,
    ) -> None:
        """The same, with a way of writing of one's own; it is called for every key ever used."""
        for attempt in range(1, MOST_ROUNDS + 1):
            if await self._run_once(subject, read, write) or await self._is_left_to_others(subject, attempt):
                return
        raise Unavailable("Filing was overtaken again and again.", kind=subject.kind)

    async def _run_once(
        self,
        subject: Subject,
        read: Callable[[], Awaitable[Wanted]],
        write: Write,
    ) -> bool:
        who = {"kind": subject.kind, "subject": subject.name}
        begun = await subject.home.fetch_one(QUERIES.begin_filing, **who, owner_id=subject.owner_id)
        assert begun is not None, "an INSERT … RETURNING returns its row"  # noqa: S101 - narrows the type
        revision: int = begun["revision"]
        wanted = await read()
        keys = {*begun["keys"], *wanted}
        if keys != set(begun["keys"]):
            await subject.home.execute(QUERIES.note_keys, **who, keys=sorted(keys))
        for key in sorted(keys):
            await write(key, revision, wanted.get(key, ()))
        if wanted:
            weight = max(entry.weight for entries in wanted.values() for entry in entries)
            ended = await subject.home.execute(QUERIES.end_filing, **who, revision=revision, weight=weight)
        else:
            ended = await subject.home.execute(QUERIES.drop_filing, **who, revision=revision)
        return ended == 1

    async def _is_left_to_others(self, subject: Subject, attempt: int) -> bool:
        """Whether a run began after ours had ended: it knows of all we wrote. Whoever waits longest goes alone."""
        before = await self._newest(subject)
        await asyncio.sleep(random.uniform(0, PAUSE_S * attempt))  # noqa: S311 - jitter, not a secret
        newest = await self._newest(subject)
        return newest is not None and newest != before

    async def _newest(self, subject: Subject) -> int | None:
        row = await subject.home.fetch_one(QUERIES.find_filing, kind=subject.kind, subject=subject.name)
        return row["revision"] if row else None

    async def withdraw(self, subject: Subject) -> None:
        """Nothing of the subject's is filed under any word."""
        await self.refile(subject, _nothing)

    async def _write_entries(self, subject: str, key: str, revision: int, entries: Sequence[Entry]) -> None:
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


async def _nothing() -> Wanted:
    return {}
