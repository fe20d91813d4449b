"""Search in one's own messages: whole words, in the threads that one is in, since one joined them.

The cost has a bound: the newest threads of the inbox are searched, each by an index lookup of the longest word, one
statement per shard.
"""

import asyncpg

from shardwright.routing import Shard
from tintype.base.ids import AccountId, has_shard
from tintype.base.pages import Page
from tintype.base.shard_groups import run_by_shard
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.errors import SearchInvalid
from tintype.direct.models import Message, ThreadId
from tintype.direct.reader import ThreadReader
from tintype.direct.search_index import words_of
from tintype.direct.store import QUERIES

MAX_THREADS = 500
"""How many threads a search looks into: those with the newest messages."""
MAX_SEARCHED_WORDS = 5
LONGEST_SEARCH = 200


class MessageSearch:
    """Finds messages."""

    def __init__(self, deps: DirectDependencies, reader: ThreadReader) -> None:
        self._shards, self._reader = deps.shards, reader

    async def page(
        self, account_id: AccountId, text: str, *, thread_id: ThreadId | None, before: int, limit: int
    ) -> Page[Message]:
        """Messages that have all these words, the newest first, of one thread or of all."""
        words = sorted(words_of(text[:LONGEST_SEARCH]), key=len, reverse=True)[:MAX_SEARCHED_WORDS]
        if not words:
            raise SearchInvalid
        threads = await self._threads_of(account_id) if thread_id is None else [thread_id]
        rows: list[asyncpg.Record] = []

        async def read(shard: Shard, own: list[ThreadId]) -> None:
            rows.extend(
                await shard.fetch(
                    QUERIES.search_messages,
                    thread_ids=own,
                    account_id=account_id,
                    word=words[0],
                    other_words=words[1:],
                    before=before,
                    limit=limit + 1,
                )
            )

        if known := [each for each in threads if has_shard(self._shards, each)]:
            await run_by_shard(self._shards, known, int, read)
        newest = sorted(rows, key=lambda row: row["id"], reverse=True)
        next_before = newest[limit - 1]["id"] if len(newest) > limit else None
        return Page(await self._reader.show_found(account_id, newest[:limit]), next_before)

    async def _threads_of(self, account_id: AccountId) -> list[ThreadId]:
        rows = await self._shards.owner(account_id).fetch(
            QUERIES.list_newest_threads, account_id=account_id, limit=MAX_THREADS
        )
        return [ThreadId(row["thread_id"]) for row in rows]
