"""Two towers: people and items as vectors of one space, whose cosine says how well they suit each other.

A tower is a sum: an id's own row where training knew the id, the rows of hashed tokens, and dense numbers times a
matrix; a person has the mean of the items of their history besides. The sum is scaled to length one. A cold item
is its author, tags, text and picture; a cold person whom and what they follow. Serving needs numpy alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tintype.explore.features import MAX_ENGAGED, ItemFeatures, PersonFeatures
from tintype.explore.generations import Generation, Generations
from tintype.explore.id_table import UNKNOWN, IdTable

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class PersonVector:
    """A person's vector, stamped with the version of the model that made it."""

    version: str
    values: Floats


@dataclass(frozen=True)
class TowerWeights:
    """All that training learns. Each table has one row per id, token or number, as wide as a vector."""

    items: Floats
    people: Floats
    tokens: Floats
    """By hash: authors, tags and pieces of text, of both towers."""
    engaged: Floats
    """A square matrix from the mean of a history to what it says about the person."""
    graph: Floats
    picture: Floats


@dataclass(frozen=True)
class TowerModel:
    """A trained model that embeds people and items."""

    version: str
    item_ids: NDArray[np.int64]
    person_ids: NDArray[np.int64]
    weights: TowerWeights

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return self.weights.engaged.shape[1]

    def embed_items(self, items: Sequence[ItemFeatures]) -> Floats:
        """A row of length one per item; zero for an item of which nothing is known."""
        found = np.zeros((len(items), self.dimension), np.float32)
        rows = IdTable(self.item_ids).find([each.item_id for each in items])
        found[rows != UNKNOWN] = self.weights.items[rows[rows != UNKNOWN]]
        for number, item in enumerate(items):
            found[number] += self._pool(item.tokens(len(self.weights.tokens)))
            if item.picture is not None:
                found[number] += item.picture @ self.weights.picture
        return normalised(found)

    def embed_person(self, person: PersonFeatures) -> PersonVector:
        """A person's vector; zero if nothing is known of them."""
        found = self._pool(person.tokens(len(self.weights.tokens)))
        if person.person_id is not None:
            row = IdTable(self.person_ids).known([person.person_id])
            found += self.weights.people[row].sum(axis=0)
        engaged = IdTable(self.item_ids).known(np.asarray(person.engaged[-MAX_ENGAGED:], np.int64))
        if len(engaged):
            found += self.weights.items[engaged].mean(axis=0) @ self.weights.engaged
        if person.graph is not None:
            found += person.graph @ self.weights.graph
        return PersonVector(self.version, normalised(found[None])[0])

    def _pool(self, tokens: Sequence[tuple[int, float]]) -> Floats:
        if not tokens:
            return np.zeros(self.dimension, np.float32)
        rows, weights = zip(*tokens, strict=True)
        return np.asarray(weights, np.float32) @ self.weights.tokens[list(rows)]


class TowerStore:
    """The published model, in one directory, mapped by every process that embeds."""

    def __init__(self, root: Path) -> None:
        self._generations = Generations(root)

    def publish(self, model: TowerModel) -> None:
        """Replace the model in use."""
        arrays = {"item_ids": model.item_ids, "person_ids": model.person_ids, **vars(model.weights)}
        with self._generations.lock():
            self._generations.publish(model.version, arrays)

    def open(self) -> TowerModel:
        """The model in use, mapped."""
        return self._generations.read(_map)

    def erase_items(self, ids: Sequence[int]) -> None:
        """Remove what the model learned of these items, in every process, at once."""
        self._erase("item_ids", "items", ids)

    def erase_people(self, ids: Sequence[int]) -> None:
        """Remove what the model learned of these people, in every process, at once."""
        self._erase("person_ids", "people", ids)

    def _erase(self, table: str, rows: str, ids: Sequence[int]) -> None:
        with self._generations.lock():
            found = self._generations.open()
            erased = IdTable(found.map(table, "r+")).erase(list(ids))
            if len(erased):
                found.map(rows, "r+")[erased] = 0


def _map(found: Generation) -> TowerModel:
    weights = TowerWeights(*(found.map(each.name) for each in fields(TowerWeights)))
    return TowerModel(found.version, found.map("item_ids"), found.map("person_ids"), weights)


def normalised(vectors: Floats) -> Floats:
    """Rows scaled to length one; a row of zeros stays."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
