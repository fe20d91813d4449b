"""Tower training: sampled softmax over the two towers, with JAX and optax, on a CPU or a GPU unchanged.

Tables of ids and tokens are updated row by row. A step whose numbers are not finite changes nothing and is
counted; an epoch with nothing but such steps raises TrainingDiverged.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from tintype.explore.errors import TrainingDataInvalid, TrainingDiverged
from tintype.explore.towers import TowerModel, TowerWeights
from tintype.explore.training.batches import DeviceData, draw_batch
from tintype.explore.training.sparse_rows import gather, scatter
from tintype.explore.training.tower_loss import Matrices, Rows, batch_loss
from tintype.explore.training.tower_settings import TowerSettings
from tintype.explore.training.training_set import TrainingSet

State = Any
"""An optax state: a tree of arrays."""


class Progress(NamedTuple):
    """All that a step changes."""

    tables: Rows
    matrices: Matrices
    table_states: tuple[State, ...]
    """The optimizer's, one per table."""
    matrix_state: State


@dataclass(frozen=True)
class EpochReport:
    """What an epoch came to."""

    loss: float
    steps: int
    refused_steps: int
    """Steps whose loss or gradient was not finite, which were left out."""


class TowerTraining:
    """One training: run epochs, and take the model whenever you like."""

    def __init__(self, data: TrainingSet, settings: TowerSettings | None = None) -> None:
        self._data, self._settings = data, settings or TowerSettings()
        if not len(data.interactions.items):
            raise TrainingDataInvalid("There are no interactions to train on.")
        self._on_device = DeviceData.of(data, self._settings)
        self._key = jax.random.key(self._settings.seed)
        self._progress: Progress = _start(data, self._settings)

    def run_epoch(self) -> EpochReport:
        """Train on every interaction once, in a random order."""
        self._key, order_key, steps_key = jax.random.split(self._key, 3)
        total = len(self._data.interactions.items)
        size = min(self._settings.batch, total)
        steps = total // size
        order = jax.random.permutation(order_key, total)[: steps * size].reshape(steps, size)
        draws = (order, jax.random.split(steps_key, steps))
        run = cast("_RunSteps", _run_steps)
        self._progress, (losses, accepted) = run(
            self._progress, self._on_device, draws, self._settings, self._data.buckets
        )
        is_accepted = np.asarray(accepted)
        if not is_accepted.any():
            raise TrainingDiverged(steps=steps)
        return EpochReport(float(np.asarray(losses)[is_accepted].mean()), steps, int((~is_accepted).sum()))

    def model(self, version: str) -> TowerModel:
        """The model as trained so far."""
        tables, matrices = self._progress.tables, self._progress.matrices
        arrays: tuple[Array, ...] = (*tables, *matrices)
        weights = TowerWeights(*(np.array(each, np.float32) for each in arrays))
        if not all(np.isfinite(each).all() for each in vars(weights).values()):
            raise TrainingDiverged(version=version)
        found = self._data.interactions
        return TowerModel(version, found.item_ids, found.person_ids, weights)


_RunSteps = Callable[
    [Progress, DeviceData, tuple[Array, Array], TowerSettings, int], tuple[Progress, tuple[Array, Array]]
]
"""The type of `_run_steps`, which compiling it hides."""


def _start(data: TrainingSet, settings: TowerSettings) -> Progress:
    """Random rows for ids; tokens and dense features begin at nearly nothing, and a person as their history."""
    keys = jax.random.split(jax.random.key(settings.seed + 1), 3)
    width, found = settings.dimension, data.interactions
    scale = width**-0.5
    tables = Rows(
        scale * jax.random.normal(keys[0], (len(found.item_ids), width)),
        scale * jax.random.normal(keys[1], (len(found.person_ids), width)),
        0.1 * scale * jax.random.normal(keys[2], (data.buckets, width)),
    )
    matrices = Matrices(
        jnp.eye(width),
        jnp.zeros((data.graph.shape[1], width)),
        jnp.zeros((data.pictures.shape[1], width)),
    )
    optimizer = _optimizer(settings)
    return Progress(
        tables, matrices, tuple(optimizer.init(each) for each in tables), optimizer.init(matrices)
    )


def _optimizer(settings: TowerSettings) -> optax.GradientTransformation:
    return optax.adam(settings.learning_rate)


@partial(jax.jit, static_argnames=("settings", "buckets"), donate_argnames=("progress",))
def _run_steps(
    progress: Progress, data: DeviceData, draws: tuple[Array, Array], settings: TowerSettings, buckets: int
) -> tuple[Progress, tuple[Array, Array]]:
    """All steps of an epoch, each from its interactions and its random key: their losses, and which were accepted."""

    def step(before: Progress, now: tuple[Array, Array]) -> tuple[Progress, tuple[Array, Array]]:
        return _step(before, data, now, settings, buckets)

    return jax.lax.scan(step, progress, draws)


def _step(
    before: Progress,
    data: DeviceData,
    drawn: tuple[Array, Array],
    settings: TowerSettings,
    buckets: int,
) -> tuple[Progress, tuple[Array, Array]]:
    touched, batch = draw_batch(data, *drawn, settings, buckets)
    rows = Rows(*(table[chosen] for table, chosen in zip(before.tables, touched, strict=True)))
    states = [gather(state, chosen) for state, chosen in zip(before.table_states, touched, strict=True)]
    loss, gradients = jax.value_and_grad(batch_loss, argnums=(0, 1))(
        rows, before.matrices, batch, settings.temperature
    )
    is_finite = jnp.isfinite(loss) & jnp.isfinite(optax.tree.norm(gradients))
    optimizer = _optimizer(settings)

    def keep_finite(new: Array, old: Array) -> Array:
        return jnp.where(is_finite, new, old)

    def apply(parameters: State, gradient: State, state: State) -> tuple[State, State]:
        changes, after = optimizer.update(gradient, state, parameters)
        chosen = (optax.apply_updates(parameters, changes), after)
        return jax.tree.map(keep_finite, chosen, (parameters, state))

    applied = [apply(*each) for each in zip(rows, gradients[0], states, strict=True)]
    matrices, matrix_state = apply(before.matrices, gradients[1], before.matrix_state)
    tables = Rows(
        *(
            scatter(table, chosen, values)
            for table, chosen, (values, _) in zip(before.tables, touched, applied, strict=True)
        )
    )
    table_states = tuple(
        scatter(state, chosen, values)
        for state, chosen, (_, values) in zip(before.table_states, touched, applied, strict=True)
    )
    return Progress(tables, matrices, table_states, matrix_state), (loss, is_finite)
