"""Finding hashtags while somebody types, with how many public posts carry each."""

import msgspec

from tintype.search.dependencies import SearchDependencies
from tintype.search.errors import TagNotFound
from tintype.search.index_reader import IndexReader
from tintype.search.index_writer import (
    EntriesByKey,
    IndexedSubject,
    IndexWriter,
    entries_of,
    popularity_weight,
)
from tintype.search.models import TagFound
from tintype.search.normalize import squash, typed_hashtag_key, words_of
from tintype.search.store import QUERIES
from tintype.search.topics import tag_topic

KIND = "tags"
LONGEST_TAG = 100


class Tags:
    """Hashtags in the search index."""

    def __init__(self, deps: SearchDependencies) -> None:
        self._shards = deps.shards
        self._writer = IndexWriter(deps.shards)
        self._reader = IndexReader(deps.shards, are_candidates_checked=False)

    async def find(self, text: str, *, limit: int) -> list[TagFound]:
        """Hashtags that begin as typed, the most used first, then those it may be a misspelling of."""
        candidates = await self._reader.find(KIND, text, enough=limit)
        return [msgspec.json.decode(each.detail, type=TagFound) for each in candidates[:limit]]

    async def get(self, text: str) -> TagFound:
        """One hashtag with its exact count."""
        tag = typed_hashtag_key(text)
        if not tag or len(tag) > LONGEST_TAG or "\0" in tag:
            raise TagNotFound
        topic = tag_topic(tag)
        count: int | None = await self._shards.of(topic).fetch_value(QUERIES.find_topic, topic=topic)
        if not count or count < 0:
            raise TagNotFound
        return TagFound(tag, count)

    async def index(self, tag: str) -> None:
        """Index the hashtag with its current count, or remove it when no public post carries it."""
        topic = tag_topic(tag)
        home = self._shards.of(topic)

        async def read() -> EntriesByKey:
            count: int = await home.fetch_value(QUERIES.find_topic, topic=topic) or 0
            terms = [term for term in (squash(tag), *words_of(tag)) if term]
            if count <= 0 or not terms:
                return {}
            detail = msgspec.json.encode(TagFound(tag, count)).decode()
            return entries_of(KIND, terms, popularity_weight(count), detail)

        await self._writer.reindex(IndexedSubject(home, KIND, tag), read)
