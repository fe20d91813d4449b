"""Looks typed words up in the index: one shard for a prefix, at most three more when typing errors must be forgiven."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from shardwright.running import Query, Shards
from tintype.search.filing import QUERIES, Entry
from tintype.search.words import (
    heads,
    prefix_head,
    typed_words,
    typo_heads,
    typos_allowed,
    typos_to,
)

MOST_CANDIDATES = 60
LOOKED_AT = 500
"""How many entries of one key are compared letter by letter."""
FEW = 5
"""With fewer right matches than this, what was typed may have been meant otherwise."""
EXACT, BEGINNING, ALIKE = 3, 2, 1


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


class Lookup:
    """The reading side of the index."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def find(self, kind: str, text: str, *, enough: int, among: Sequence[str] = ()) -> list[Candidate]:
        """Candidates, best first. Those of `among` that match are there however unpopular they are."""
        words = typed_words(text)
        if not words:
            return []
        lead, others = words[0], [f"% {word}%" for word in words[1:]]
        key = f"{kind}:{prefix_head(lead)}"
        asked: dict[str, Any] = {"pattern": f"{lead}%", "others": others, "limit": MOST_CANDIDATES}
        reads = [self._read(QUERIES.find_prefix, key, lead, **asked)]
        if among:
            reads.append(self._read(QUERIES.find_prefix_among, key, lead, **asked, subjects=list(among)))
        found = _best(each for part in await asyncio.gather(*reads) for each in part)
        if len(found) < min(enough, FEW) and typos_allowed(lead):
            found = _best([*found, *await self._find_alike(kind, lead, others)])
        return found

    async def _find_alike(self, kind: str, lead: str, others: list[str]) -> list[Candidate]:
        parts = await asyncio.gather(
            *(
                self._read(
                    QUERIES.find_alike,
                    f"{kind}:{head}",
                    lead,
                    word=lead,
                    others=others,
                    looked_at=LOOKED_AT,
                    limit=MOST_CANDIDATES,
                )
                for head in sorted(typo_heads(lead))
            )
        )
        return [each for part in parts for each in part]

    async def _read(self, query: Query, key: str, lead: str, **params: Any) -> list[Candidate]:
        rows = await self._shards.of(key).fetch(query, key=key, **params)
        return [
            Candidate(row["subject"], match, row["weight"], row["detail"])
            for row in rows
            if (match := _match(lead, row["term"]))
        ]


def entries_of(kind: str, terms: Iterable[str], weight: int, detail: str = "") -> dict[str, list[Entry]]:
    """The entries of something with these words, by key."""
    listed = list(dict.fromkeys(terms))
    words = "".join(f" {term}" for term in listed)
    wanted: dict[str, list[Entry]] = {}
    for term in listed:
        for head in heads(term):
            wanted.setdefault(f"{kind}:{head}", []).append(Entry(term, words, weight, detail))
    return wanted


def _match(lead: str, term: str) -> int:
    if term.startswith(lead):
        return EXACT if term == lead else BEGINNING
    return ALIKE if typos_to(lead, term) <= typos_allowed(lead) else 0


def _best(candidates: Iterable[Candidate]) -> list[Candidate]:
    best: dict[str, Candidate] = {}
    for each in candidates:
        known = best.get(each.subject)
        if known is None or each.rank > known.rank:
            best[each.subject] = each
    return sorted(best.values(), key=lambda each: each.rank, reverse=True)[: 2 * MOST_CANDIDATES]
