"""The baselines of `bench explore`, each scoring all items at once: popularity, item-kNN, implicit ALS and GF-CF."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp
from jax import Array
from numpy.typing import NDArray

from bench.explore_dataset import TOP, Dataset, Metrics
from tintype.explore import Interactions
from tintype.explore.training import FilterSettings, GraphFilter

Scorer = Callable[[NDArray[np.int64]], NDArray[np.float32]]
"""Scores of all items, one row for each row of a person."""
_BLOCK = 256
_CG_STEPS = 3


def measure(dataset: Dataset, scorer: Scorer, people: NDArray[np.int64] | None = None) -> Metrics:
    """Full ranking: every item that is not in the training part competes."""
    return dataset.measure(_rank(dataset, scorer, dataset.asked if people is None else people))


def _rank(
    dataset: Dataset, scorer: Scorer, people: NDArray[np.int64]
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    for start in range(0, len(people), _BLOCK):
        block = people[start : start + _BLOCK]
        for person, scores in zip(block, scorer(block), strict=True):
            row = scores.copy()
            row[dataset.train.history(int(person))] = -np.inf
            best = np.argpartition(-row, TOP)[:TOP]
            yield int(person), best[np.argsort(-row[best], kind="stable")]


def popularity(train: Interactions) -> Scorer:
    """The same for everybody: how many people engaged with it."""
    counts = train.item_counts.astype(np.float32)
    return lambda people: np.broadcast_to(counts, (len(people), len(counts)))


def item_knn(train: Interactions, neighbours: int) -> Scorer:
    """The sum of cosines with the items of the history, each of which counts for its nearest neighbours alone."""
    matrix = histories(train)
    cosine = (matrix @ sp.diags(1 / np.sqrt(np.maximum(train.item_counts, 1)))).tocsc().astype(np.float32)
    blocks = [
        _nearest((cosine[:, start : start + _BLOCK].T @ cosine).tocsr(), start, neighbours)
        for start in range(0, matrix.shape[1], _BLOCK)
    ]
    similar = cast("Any", sp.vstack(blocks)).tocsr()
    return lambda people: (matrix[people] @ similar).toarray()


def _nearest(rows: Any, start: int, neighbours: int) -> Any:  # any: scipy ships without types
    """The largest numbers of each row, without an item's similarity to itself."""
    dense = rows.toarray()
    dense[np.arange(len(dense)), np.arange(start, start + len(dense))] = 0
    count = min(neighbours, dense.shape[1] - 1)
    limit = np.partition(dense, -count, axis=1)[:, -count][:, None]
    return sp.csr_matrix(np.where(dense >= np.maximum(limit, 1e-9), dense, 0))


def closed_form(train: Interactions, settings: FilterSettings) -> Scorer:
    """GF-CF as published: all items, nothing cut and nothing sharpened."""
    graph_filter, matrix = GraphFilter(train, settings), histories(train)
    return lambda people: graph_filter.score(matrix[people])


def als(
    train: Interactions, *, factors: int, confidence: float, regularization: float, rounds: int = 15
) -> Scorer:
    """Implicit ALS (Hu, Koren and Volinsky 2008), each side solved by a few steps of conjugate gradients."""
    people, items = jnp.asarray(train.people), jnp.asarray(train.items)
    keys = jax.random.split(jax.random.key(1))
    left = 0.01 * jax.random.normal(keys[0], (len(train.person_ids), factors))
    right = 0.01 * jax.random.normal(keys[1], (len(train.item_ids), factors))
    for _ in range(rounds):
        left = cast("Array", _solve(left, right, (people, items), confidence, regularization))
        right = cast("Array", _solve(right, left, (items, people), confidence, regularization))
    ours, theirs = np.asarray(left), np.asarray(right)
    return lambda people: ours[people] @ theirs.T


@partial(jax.jit, static_argnames=("confidence", "regularization"))
def _solve(
    start: Array, fixed: Array, pairs: tuple[Array, Array], confidence: float, regularization: float
) -> Array:
    mine, theirs = pairs
    gram = fixed.T @ fixed + regularization * jnp.eye(fixed.shape[1])

    def weigh(weights: Array) -> Array:
        return jax.ops.segment_sum(weights[:, None] * fixed[theirs], mine, len(start))

    def apply(rows: Array) -> Array:
        return rows @ gram + weigh(confidence * jnp.einsum("ed,ed->e", rows[mine], fixed[theirs]))

    rows = start
    left_over = weigh(jnp.full(len(mine), 1.0 + confidence)) - apply(rows)
    direction = left_over
    for _ in range(_CG_STEPS):
        moved, size = apply(direction), (left_over**2).sum(axis=1, keepdims=True)
        step = size / jnp.maximum((direction * moved).sum(axis=1, keepdims=True), 1e-20)
        rows, left_over = rows + step * direction, left_over - step * moved
        growth = (left_over**2).sum(axis=1, keepdims=True) / jnp.maximum(size, 1e-20)
        direction = left_over + growth * direction
    return rows


def histories(train: Interactions) -> Any:  # any: scipy ships without types
    """People by items: one where somebody engaged."""
    shape = (len(train.person_ids), len(train.item_ids))
    ones = np.ones(len(train.items), np.float32)
    return sp.csr_matrix((ones, train.items, train.starts), shape=shape)
