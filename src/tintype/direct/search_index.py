"""The words of messages, thread by thread, on the shard of the thread: what a member's search looks words up in.

Words are added a moment after a message is sent or edited, and deleted with the text they come from, in the same
transaction: an index entry never outlives the text.
"""

import re
import unicodedata
from collections.abc import Sequence

import asyncpg

from shardwright.routing import Shard
from tintype.base.shard_groups import run_by_shard
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.store import QUERIES

LONGEST_WORD = 30
MAX_WORDS = 100
"""Of one message; a text of 4,000 characters rarely has more that differ."""
_WORD = re.compile(r"[^\W_]+")


class SearchIndex:
    """Indexes messages."""

    def __init__(self, deps: DirectDependencies) -> None:
        self._shards = deps.shards

    async def add(self, rows: Sequence[asyncpg.Record]) -> None:
        """Index messages as they were read; those that have changed since are left to the handler of that change."""
        await run_by_shard(self._shards, rows, lambda row: row["id"], self._add)

    async def _add(self, shard: Shard, rows: list[asyncpg.Record]) -> None:
        entries = [(row, word) for row in rows for word in words_of(row["text"])]
        if entries:
            await shard.execute(
                QUERIES.index_words,
                thread_ids=[row["thread_id"] for row, _ in entries],
                message_ids=[row["id"] for row, _ in entries],
                change_ids=[row["change_id"] for row, _ in entries],
                words=[word for _, word in entries],
            )


def words_of(text: str) -> list[str]:
    """The distinct words of a text, without case, accents and widths, in their order."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    folded = "".join(
        each for each in parts if unicodedata.category(each) not in {"Mn", "Cs", "Cc"} or each.isspace()
    )
    return list(dict.fromkeys(each[:LONGEST_WORD] for each in _WORD.findall(folded)))[:MAX_WORDS]
