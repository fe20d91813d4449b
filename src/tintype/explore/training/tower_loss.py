"""The loss of a batch: both towers over the rows that the batch touches, and sampled softmax on their cosines."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from tintype.explore.training.sampled_softmax import sampled_softmax


class Rows(NamedTuple):
    """The rows of the three tables that a batch touches."""

    items: Array
    people: Array
    tokens: Array


class Matrices(NamedTuple):
    """What is multiplied rather than looked up."""

    engaged: Array
    graph: Array
    picture: Array


class ItemBatch(NamedTuple):
    """Items; places are in `Rows`."""

    places: Array
    keeps_id: Array
    """0 where the id's own row is left out, so that content learns to speak for itself; else 1."""
    token_places: Array
    token_weights: Array
    pictures: Array


class PersonBatch(NamedTuple):
    """People with samples of their histories; places are in `Rows`."""

    places: Array
    keeps_id: Array
    engaged_places: Array
    engaged_weights: Array
    token_places: Array
    token_weights: Array
    graph: Array


class Batch(NamedTuple):
    """People, one item that each engaged with, and negatives that they share."""

    people: PersonBatch
    positives: ItemBatch
    negatives: ItemBatch
    log_expected: Array
    is_positive: Array


def embed_items(rows: Rows, matrices: Matrices, batch: ItemBatch) -> Array:
    """The item tower, as `TowerModel.embed_items` computes it."""
    own = rows.items[batch.places] * batch.keeps_id[:, None]
    content = jnp.einsum("bt,btd->bd", batch.token_weights, rows.tokens[batch.token_places])
    return _normalised(own + content + batch.pictures @ matrices.picture)


def embed_people(rows: Rows, matrices: Matrices, batch: PersonBatch) -> Array:
    """The user tower, as `TowerModel.embed_person` computes it."""
    own = rows.people[batch.places] * batch.keeps_id[:, None]
    engaged = jnp.einsum("bh,bhd->bd", batch.engaged_weights, rows.items[batch.engaged_places])
    content = jnp.einsum("bt,btd->bd", batch.token_weights, rows.tokens[batch.token_places])
    return _normalised(own + engaged @ matrices.engaged + content + batch.graph @ matrices.graph)


def batch_loss(rows: Rows, matrices: Matrices, batch: Batch, temperature: float) -> Array:
    """The mean loss of the batch."""
    people = embed_people(rows, matrices, batch.people)
    positives = embed_items(rows, matrices, batch.positives)
    negatives = embed_items(rows, matrices, batch.negatives)
    positive = jnp.einsum("bd,bd->b", people, positives) / temperature
    negative = people @ negatives.T / temperature
    return sampled_softmax(positive, negative, batch.log_expected, batch.is_positive).mean()


def _normalised(vectors: Array) -> Array:
    return vectors / jnp.sqrt((vectors * vectors).sum(axis=1, keepdims=True) + 1e-12)
