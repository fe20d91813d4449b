"""Finding hashtags as one types, with how many public posts carry each."""

import msgspec

from shardwright.running import Shards
from tintype.search.errors import TagNotFound
from tintype.search.filing import QUERIES, Filer, Subject, Wanted
from tintype.search.looking import Lookup, entries_of
from tintype.search.models import TagFound
from tintype.search.topics import tag_topic
from tintype.search.words import squash, tag_key, weigh, words_of

KIND = "tags"
LONGEST_TAG = 100


class Tags:
    """Hashtags in the index."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self._filer, self._lookup = Filer(shards), Lookup(shards)

    async def find(self, text: str, *, limit: int) -> list[TagFound]:
        """Tags that begin as typed, the most used first; then what may have been meant."""
        candidates = await self._lookup.find(KIND, text, enough=limit)
        return [msgspec.json.decode(each.detail, type=TagFound) for each in candidates[:limit]]

    async def get(self, text: str) -> TagFound:
        """One tag with its exact count."""
        tag = tag_key(text)
        if not tag or len(tag) > LONGEST_TAG or "\0" in tag:
            raise TagNotFound
        topic = tag_topic(tag)
        count: int | None = await self._shards.of(topic).fetch_value(QUERIES.find_topic, topic=topic)
        if not count or count < 0:
            raise TagNotFound
        return TagFound(tag, count)

    async def file(self, tag: str) -> None:
        """The index knows the tag by its present count, or not at all when nobody uses it."""
        topic = tag_topic(tag)
        home = self._shards.of(topic)

        async def read() -> Wanted:
            count: int = await home.fetch_value(QUERIES.find_topic, topic=topic) or 0
            terms = [term for term in (squash(tag), *words_of(tag)) if term]
            if count <= 0 or not terms:
                return {}
            detail = msgspec.json.encode(TagFound(tag, count)).decode()
            return entries_of(KIND, terms, weigh(count), detail)

        await self._filer.refile(Subject(home, KIND, tag), read)
