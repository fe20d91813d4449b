"""Publishes what `bench explore` has trained and asks for it as a site does: from files, in several processes.

This module and all it imports need numpy alone, as serving does.
"""

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.explore_dataset import Dataset
from tintype.explore import (
    BlendSettings,
    Candidates,
    ItemFeatures,
    NeighbourLists,
    NeighbourListStore,
    PersonFeatures,
    Retriever,
    TowerModel,
    TowerStore,
    VectorIndex,
    VectorIndexWriter,
)

Asked = tuple[int, int, NDArray[np.int64]]
"""The row of a person, their id and the ids of their history."""
_CHUNK = 200
_served: dict[str, Retriever] = {}


def publish_lists(root: Path, lists: NeighbourLists) -> None:
    """Publish the filter."""
    NeighbourListStore(root / "lists").publish(lists)


def publish_towers(root: Path, towers: TowerModel) -> None:
    """Publish the towers and the index of all items that they know."""
    TowerStore(root / "towers").publish(towers)
    vectors = towers.embed_items([ItemFeatures(int(each)) for each in towers.item_ids])
    VectorIndexWriter(root / "index").publish(towers.version, towers.item_ids, vectors)


def propose(root: Path, dataset: Dataset, people: NDArray[np.int64]) -> Iterator[tuple[int, Candidates]]:
    """The candidates of each person, retrieved by processes that share the published files."""
    train = dataset.train
    asked: list[Asked] = [
        (int(row), int(train.person_ids[row]), train.item_ids[train.history(int(row))]) for row in people
    ]
    chunks = [asked[start : start + _CHUNK] for start in range(0, len(asked), _CHUNK)]
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read by the processes to come: one core each
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), context, _open, (root,)) as pool:
        for chunk, found in zip(chunks, pool.map(_propose, chunks), strict=True):
            yield from zip((row for row, _, _ in chunk), found, strict=True)


def open_retriever(root: Path, settings: BlendSettings | None = None) -> Retriever:
    """Map what is published."""
    return Retriever(
        TowerStore(root / "towers").open(),
        NeighbourListStore(root / "lists").open(),
        VectorIndex(root / "index"),
        settings,
    )


def _open(root: Path) -> None:
    _served["retriever"] = open_retriever(root)


def _propose(chunk: list[Asked]) -> list[Candidates]:
    return [_served["retriever"].propose(PersonFeatures(person, engaged)) for _, person, engaged in chunk]
