"""Batches: drawn on the device from the whole training set, so that an epoch is one call without transfers."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from tintype.explore.training.sampled_softmax import sampling_distribution
from tintype.explore.training.sparse_rows import touched_rows
from tintype.explore.training.tower_loss import Batch, ItemBatch, PersonBatch
from tintype.explore.training.tower_settings import TowerSettings
from tintype.explore.training.training_set import TrainingSet


class DeviceData(NamedTuple):
    """The training set on the device."""

    people: Array
    """The person of each interaction."""
    items: Array
    """The item of each interaction; the history of a person is a run of them."""
    starts: Array
    item_tokens: tuple[Array, Array]
    person_tokens: tuple[Array, Array]
    pictures: Array
    graph: Array
    has_content: Array
    cumulative: Array
    """The sampling distribution of negatives, added up."""
    log_probability: Array

    @classmethod
    def of(cls, data: TrainingSet, settings: TowerSettings) -> "DeviceData":
        """Copy the training set to the device."""
        found = data.interactions
        drawn = sampling_distribution(jnp.asarray(found.item_counts, jnp.float32), settings.negative_exponent)
        return cls(
            jnp.asarray(found.people),
            jnp.asarray(found.items),
            jnp.asarray(found.starts.astype(np.int32)),
            (jnp.asarray(data.item_tokens[0]), jnp.asarray(data.item_tokens[1])),
            (jnp.asarray(data.person_tokens[0]), jnp.asarray(data.person_tokens[1])),
            jnp.asarray(data.pictures),
            jnp.asarray(data.graph),
            jnp.asarray(data.has_content),
            jnp.cumsum(drawn),
            jnp.log(drawn),
        )


class TouchedRows(NamedTuple):
    """Which rows of the tables a batch touches."""

    items: Array
    people: Array
    tokens: Array


def draw_batch(
    data: DeviceData, interactions: Array, key: Array, settings: TowerSettings, buckets: int
) -> tuple[TouchedRows, Batch]:
    """The batch of these interactions: negatives, samples of histories, and which rows all of it touches."""
    keys = jax.random.split(key, 6)
    people, positives = data.people[interactions], data.items[interactions]
    uniform = jax.random.uniform(keys[0], (settings.negatives,)) * data.cumulative[-1]
    negatives = jnp.minimum(jnp.searchsorted(data.cumulative, uniform), len(data.cumulative) - 1)
    engaged, weights = _sample_histories(data, people, positives, keys[1], settings.history)

    ids = jnp.concatenate([positives, negatives.astype(positives.dtype), engaged.ravel()])
    item_rows, item_places = touched_rows(ids, len(data.has_content))
    person_rows, person_places = touched_rows(people, len(data.graph))
    pieces = (data.item_tokens[0][positives], data.item_tokens[0][negatives], data.person_tokens[0][people])
    token_rows, token_places = touched_rows(jnp.concatenate([each.ravel() for each in pieces]), buckets)
    ends = (pieces[0].size, pieces[0].size + pieces[1].size)
    at = [
        part.reshape(piece.shape) for part, piece in zip(jnp.split(token_places, ends), pieces, strict=True)
    ]

    def keep(number: int, may_drop: Array) -> Array:
        """0 for a random share of those that may be dropped, 1 for all others."""
        is_chosen = jax.random.uniform(keys[number], may_drop.shape) < settings.drop_ids
        return 1.0 - (may_drop & is_chosen).astype(jnp.float32)

    own, shared = len(positives), len(positives) + settings.negatives
    may_drop = weights.any(axis=1)
    batch = Batch(
        PersonBatch(
            person_places,
            keep(2, may_drop),
            item_places[shared:].reshape(engaged.shape),
            weights,
            at[2],
            data.person_tokens[1][people] * keep(5, may_drop)[:, None],
            data.graph[people],
        ),
        _items(data, positives, item_places[:own], at[0], keep(3, data.has_content[positives])),
        _items(data, negatives, item_places[own:shared], at[1], keep(4, data.has_content[negatives])),
        data.log_probability[negatives] + jnp.log(float(settings.negatives)),
        positives[:, None] == negatives[None, :],
    )
    return TouchedRows(item_rows, person_rows, token_rows), batch


def _items(data: DeviceData, items: Array, places: Array, token_places: Array, keeps: Array) -> ItemBatch:
    return ItemBatch(places, keeps, token_places, data.item_tokens[1][items], data.pictures[items])


def _sample_histories(
    data: DeviceData, people: Array, positives: Array, key: Array, size: int
) -> tuple[Array, Array]:
    """Items of each person's history without the one to be predicted, and weights that make their sum a mean."""
    first = data.starts[people]
    counts = data.starts[people + 1] - first
    chance = jax.random.uniform(key, (len(people), size))
    anywhere = jnp.floor(chance * counts[:, None]).astype(first.dtype)
    in_order = jnp.broadcast_to(jnp.arange(size, dtype=first.dtype), anywhere.shape)
    offsets = jnp.where(counts[:, None] > size, anywhere, in_order)
    is_there = offsets < counts[:, None]
    engaged = data.items[jnp.where(is_there, first[:, None] + offsets, 0)]
    counts_in = (is_there & (engaged != positives[:, None])).astype(jnp.float32)
    return engaged, counts_in / jnp.maximum(counts_in.sum(axis=1, keepdims=True), 1)
