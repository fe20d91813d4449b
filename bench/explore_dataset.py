"""What `bench explore` reads and how it counts: interactions from lines of numbers, and full-ranking metrics."""

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tintype.explore import Interactions

TOP = 20
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Metrics:
    """Recall and normalised discounted cumulative gain of the first TOP items, averaged over people."""

    recall: float
    ndcg: float

    def __str__(self) -> str:
        return f"{self.recall:.4f}/{self.ndcg:.4f}"


@dataclass(frozen=True)
class Dataset:
    """A training part and what is to be predicted; people and items are the same in both."""

    train: Interactions
    test: Interactions

    @classmethod
    def load(cls, folder: Path, people: int | None = None) -> "Dataset":
        """Read train.txt and test.txt, or those with .gz: lines of a person's number and the numbers of items."""
        train, test = (dict(_lines(folder, name, people)) for name in ("train.txt", "test.txt"))
        everything = [each for part in (train, test) for items in part.values() for each in items]
        everybody = sorted(set(train) | set(test))
        parts = (
            Interactions.of({each: part.get(each, []) for each in everybody}, everything)
            for part in (train, test)
        )
        return cls(*parts)

    def hold_out(self, share: float, seed: int) -> "Dataset":
        """A split of the training part alone, to choose settings on."""
        return Dataset(*self.train.split(share, seed))

    @property
    def asked(self) -> NDArray[np.int64]:
        """People who have something to be predicted, as rows."""
        return np.flatnonzero(np.diff(self.test.starts))

    def measure(self, ranked: Iterable[tuple[int, NDArray[Any]]]) -> Metrics:
        """Metrics of the first items, as rows of items, for rows of people."""
        gains = 1 / np.log2(np.arange(2, TOP + 2))
        recalls: list[float] = []
        ndcgs: list[float] = []
        for person, items in ranked:
            wanted = self.test.history(person)
            is_hit = np.isin(items[:TOP], wanted)
            recalls.append(float(is_hit.sum() / len(wanted)))
            ndcgs.append(float(gains[: len(is_hit)][is_hit].sum() / gains[: len(wanted)].sum()))
        return Metrics(float(np.mean(recalls)), float(np.mean(ndcgs)))


def _lines(folder: Path, name: str, people: int | None) -> Iterator[tuple[int, list[int]]]:
    plain, packed = folder / name, folder / f"{name}.gz"
    with plain.open() if plain.exists() else gzip.open(packed, "rt") as file:
        for line in file:
            person, *items = (int(each) for each in line.split())
            if people is None or person < people:
                yield person, items
