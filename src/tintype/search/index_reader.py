"""Looks up typed words in the index: one shard for a prefix, at most three more when typos must be forgiven."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from shardwright.routing import Query, Shards
from tintype.base.replica_reads import replica_reader
from tintype.search.normalize import typed_words
from tintype.search.prefixes import lookup_prefix, typo_prefixes, typos_allowed, typos_to
from tintype.search.store import QUERIES

MAX_CANDIDATES = 60
COMPARED_PER_KEY = 500
"""How many entries of one key are compared letter by letter."""
FEW = 5
"""With fewer exact matches than this, what was typed may be misspelled."""
EXACT, PREFIX, SIMILAR = 3, 2, 1


@dataclass(frozen=True)
class Candidate:
    """Something found, how well it matches, and how popular it is."""

    subject: str
    match: int
    weight: int
    detail: str

    @property
    def rank(self) -> tuple[int, int]:
        """Better matches first, then the more popular."""
        return self.match, self.weight


class IndexReader:
    """Finds candidates in the index.

    A replica may answer only if the caller checks at the primary whether each candidate may be shown: the index itself
    on a replica may still hold the words of what was deleted, or made private, a moment ago.
    """

    def __init__(self, shards: Shards, *, are_candidates_checked: bool) -> None:
        self._shards, self._are_candidates_checked = shards, are_candidates_checked

    async def find(self, kind: str, text: str, *, enough: int, among: Sequence[str] = ()) -> list[Candidate]:
        """Candidates, best first; those of the subjects in `among` that match are found however unpopular."""
        words = typed_words(text)
        if not words:
            return []
        lead, others = words[0], [f"% {word}%" for word in words[1:]]
        key = f"{kind}:{lookup_prefix(lead)}"
        params: dict[str, Any] = {"pattern": f"{lead}%", "others": others, "limit": MAX_CANDIDATES}
        reads = [self._read(QUERIES.find_prefix, key, lead, **params)]
        if among:
            reads.append(self._read(QUERIES.find_prefix_among, key, lead, **params, subjects=list(among)))
        found = _best(each for part in await asyncio.gather(*reads) for each in part)
        if len(found) < min(enough, FEW) and typos_allowed(lead):
            found = _best([*found, *await self._find_similar(kind, lead, others)])
        return found

    async def _find_similar(self, kind: str, lead: str, others: list[str]) -> list[Candidate]:
        parts = await asyncio.gather(
            *(
                self._read(
                    QUERIES.find_similar,
                    f"{kind}:{prefix}",
                    lead,
                    word=lead,
                    others=others,
                    compared=COMPARED_PER_KEY,
                    limit=MAX_CANDIDATES,
                )
                for prefix in sorted(typo_prefixes(lead))
            )
        )
        return [each for part in parts for each in part]

    async def _read(self, query: Query, key: str, lead: str, **params: Any) -> list[Candidate]:
        shards = replica_reader(self._shards) if self._are_candidates_checked else self._shards
        rows = await shards.of(key).fetch(query, key=key, **params)
        return [
            Candidate(row["subject"], match, row["weight"], row["detail"])
            for row in rows
            if (match := _match(lead, row["term"]))
        ]


def match_words(typed: Sequence[str], terms: Sequence[str]) -> int:
    """How well words that were typed match the words of one subject, as `IndexReader.find` would; 0 if they do not."""
    if not typed or not all(any(term.startswith(word) for term in terms) for word in typed[1:]):
        return 0
    return max((_match(typed[0], term) for term in terms), default=0)


def _match(lead: str, term: str) -> int:
    if term.startswith(lead):
        return EXACT if term == lead else PREFIX
    return SIMILAR if typos_to(lead, term) <= typos_allowed(lead) else 0


def _best(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The best match of each subject, best first."""
    best: dict[str, Candidate] = {}
    for each in candidates:
        known = best.get(each.subject)
        if known is None or each.rank > known.rank:
            best[each.subject] = each
    return sorted(best.values(), key=lambda each: each.rank, reverse=True)[: 2 * MAX_CANDIDATES]
