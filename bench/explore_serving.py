"""Publishes what `bench explore` has trained and asks for it as a site does: from files, in several processes.

This module and all it imports need numpy alone, as serving does.
"""

import multiprocessing
import os
from collections.abc import Generator, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.explore_dataset import Dataset
from tintype.explore import (
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


def publish_lists(root: Path, lists: NeighbourLists) -> None:
    """Publish the filter."""
    NeighbourListStore(root / "lists").publish(lists)


def publish_towers(root: Path, towers: TowerModel) -> None:
    """Publish the towers and the index of all items that they know."""
    TowerStore(root / "towers").publish(towers)
    vectors = towers.embed_items([ItemFeatures(int(each)) for each in towers.item_ids])
    VectorIndexWriter(root / "index").publish(towers.version, towers.item_ids, vectors)


@contextmanager
def open_pool() -> Generator[ProcessPoolExecutor]:
    """Processes that retrieve, one for each core."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read by the processes to come: one core each
    with ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn")) as pool:
        yield pool


def propose(
    pool: ProcessPoolExecutor, root: Path, dataset: Dataset, people: NDArray[np.int64]
) -> Iterator[tuple[int, Candidates]]:
    """The candidates of each person, retrieved by processes that share the published files."""
    train = dataset.train
    asked: list[Asked] = [
        (int(row), int(train.person_ids[row]), train.item_ids[train.history(int(row))]) for row in people
    ]
    chunks = [asked[start : start + _CHUNK] for start in range(0, len(asked), _CHUNK)]
    for chunk, found in zip(chunks, pool.map(_propose, [root] * len(chunks), chunks), strict=True):
        yield from zip((row for row, _, _ in chunk), found, strict=True)


def _propose(root: Path, chunk: list[Asked]) -> list[Candidates]:
    """Map what is published by now, and retrieve for some people."""
    retriever = Retriever(
        TowerStore(root / "towers").open(),
        NeighbourListStore(root / "lists").open(),
        VectorIndex(root / "index"),
    )
    return [retriever.propose(PersonFeatures(person, engaged)) for _, person, engaged in chunk]
