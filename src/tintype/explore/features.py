"""Features of people and items, as the towers take them: ids, hashed tokens and dense numbers.

Authors, tags and pieces of text have no rows of their own but share a table by hash: nothing has to be known in
advance, and what has never been seen before lands somewhere harmless. The author a person follows and the author
of an item are the same token, so that a post of somebody followed is close from the first step.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

MAX_ENGAGED = 500
"""How much of a history counts: the most recent."""
MAX_TEXT_TOKENS = 64
_NGRAM = 4
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class ItemFeatures:
    """What is known of an item before anybody has seen it."""

    item_id: int
    author_id: int | None = None
    tags: tuple[str, ...] = ()
    text: str = ""
    picture: NDArray[np.float32] | None = None
    """A descriptor of the picture, such as `describe_picture` makes."""

    def tokens(self, buckets: int) -> list[tuple[int, float]]:
        """Rows of the hashed table with their weights."""
        return [
            *_weighted([f"author:{self.author_id}"] if self.author_id is not None else [], buckets),
            *_weighted([f"tag:{each.casefold()}" for each in self.tags], buckets),
            *_weighted(text_tokens(self.text), buckets),
        ]


@dataclass(frozen=True)
class PersonFeatures:
    """What is known of a person: what they did, whom and what they follow, and their place in the graph."""

    person_id: int | None = None
    engaged: Sequence[int] | NDArray[np.int64] = ()
    """Ids of items, the most recent last."""
    author_ids: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()
    graph: NDArray[np.float32] | None = field(default=None)
    """Dense numbers about their place in the graph, such as logarithms of counts."""

    def tokens(self, buckets: int) -> list[tuple[int, float]]:
        """Rows of the hashed table with their weights."""
        return [
            *_weighted([f"author:{each}" for each in self.author_ids], buckets),
            *_weighted([f"tag:{each.casefold()}" for each in self.tags], buckets),
        ]


def text_tokens(text: str) -> list[str]:
    """Words, and the n-grams of long words, of a text: each once, at most MAX_TEXT_TOKENS."""
    found: dict[str, None] = {}
    for word in _WORD.findall(text.casefold()):
        found[f"word:{word}"] = None
        padded = f"<{word}>"
        for start in range(max(len(padded) - _NGRAM + 1, 0)):
            found[f"gram:{padded[start : start + _NGRAM]}"] = None
    return list(found)[:MAX_TEXT_TOKENS]


def bucket(token: str, buckets: int) -> int:
    """The row of a token: the same in every process and on every machine."""
    digest = hashlib.blake2b(token.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little") % buckets


def pad_tokens(
    bags: Sequence[Sequence[tuple[int, float]]],
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Bags as a matrix of rows and one of weights, as wide as the longest; the rest has weight zero."""
    width = max((len(each) for each in bags), default=0) or 1
    rows, weights = np.zeros((len(bags), width), np.int32), np.zeros((len(bags), width), np.float32)
    for number, bag in enumerate(bags):
        if bag:
            rows[number, : len(bag)], weights[number, : len(bag)] = zip(*bag, strict=True)
    return rows, weights


def _weighted(tokens: Iterable[str], buckets: int) -> list[tuple[int, float]]:
    """Tokens of one kind; together they weigh as much as the root of their number."""
    rows = [bucket(each, buckets) for each in tokens]
    return [(row, 1 / len(rows) ** 0.5) for row in rows]
