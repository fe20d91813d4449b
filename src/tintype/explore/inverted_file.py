"""Inverted file (IVF) by faiss: vectors grouped by the nearest of some centroids, of which a search visits a few.

faiss is optional (`tintype[ann]`): without it the index compares every vector, which is exact and slower above
some 200,000 items. Vectors are stored in half precision, and the file is memory-mapped.
"""

import importlib.util
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tintype.explore.generations import Generation

NAME = "inverted"
_PROBES = 64
_TRAINING_VECTORS = 64
"""Per centroid."""


def is_available() -> bool:
    """Whether faiss is installed."""
    return importlib.util.find_spec("faiss") is not None


@dataclass(frozen=True)
class InvertedFile:
    """A mapped inverted file over the first rows of an index."""

    rows: int
    _index: Any  # any: faiss ships without types

    @classmethod
    def open(cls, generation: Generation) -> "InvertedFile | None":
        """The inverted file of a generation, if it has one and faiss is installed."""
        if NAME not in generation.layout or not is_available():
            return None
        import faiss  # noqa: PLC0415 - optional: an extra

        index: Any = faiss.read_index(str(generation.path / NAME), faiss.IO_FLAG_MMAP)
        index.nprobe = min(_PROBES, index.nlist)
        return cls(int(generation.facts["rows"]), index)

    def search(self, vector: NDArray[np.float32], count: int) -> NDArray[np.int64]:
        """Rows with high dot products, roughly the highest."""
        _, rows = self._index.search(np.ascontiguousarray(vector[None], np.float32), min(count, self.rows))
        return rows[0][rows[0] >= 0]


def build(vectors: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Train and fill an inverted file, as bytes."""
    import faiss  # noqa: PLC0415 - optional: an extra

    lists = max(int(4 * len(vectors) ** 0.5), 1)
    index: Any = faiss.index_factory(vectors.shape[1], f"IVF{lists},SQfp16", faiss.METRIC_INNER_PRODUCT)
    wanted = min(lists * _TRAINING_VECTORS, len(vectors))
    sample = np.random.default_rng(1).choice(len(vectors), wanted, replace=False)
    index.train(vectors[np.sort(sample)])
    index.add(vectors)
    return np.asarray(faiss.serialize_index(index), np.uint8)


def erase(generation: Generation, rows: NDArray[np.int64]) -> None:
    """Remove rows from the file of a generation; readers keep the old file until they open the next generation."""
    if NAME not in generation.layout or not is_available():
        return
    import faiss  # noqa: PLC0415 - optional: an extra

    path = generation.path / NAME
    index: Any = faiss.read_index(str(path))
    index.remove_ids(faiss.IDSelectorBatch(np.ascontiguousarray(rows, np.int64)))
    successor = path.with_suffix(".new")
    faiss.write_index(index, str(successor))
    successor.replace(path)
