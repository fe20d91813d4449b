"""Row-wise updates: of a large table only the rows that a batch touches are read, differentiated and written.

Any optax optimizer works: its state is gathered and scattered like the rows. A row's moments stand still while it
is not touched ("lazy" Adam).
"""

from typing import Any, cast

import jax
import jax.numpy as jnp
from jax import Array

State = Any
"""An optax state: a tree whose arrays have the shape of the table, beside counters."""


def touched_rows(ids: Array, table_rows: int) -> tuple[Array, Array]:
    """The rows that are named, each once, and for each id its place among them.

    The first has a fixed size; places that are left over name the row behind the last, which is never written.
    """
    size = min(ids.size, table_rows)
    fill = jnp.asarray(table_rows, ids.dtype)
    found = cast("Any", jnp.unique)(ids.ravel(), return_inverse=True, size=size, fill_value=fill)
    return found[0], found[1].reshape(ids.shape)


def gather(tree: State, rows: Array) -> State:
    """The named rows of every table in a tree; counters as they are."""

    def pick(leaf: Array) -> Array:
        return leaf[rows] if leaf.ndim else leaf

    return jax.tree.map(pick, tree)


def scatter(tree: State, rows: Array, values: State) -> State:
    """The tree with the named rows replaced; counters as the new ones say."""

    def put(leaf: Array, value: Array) -> Array:
        return leaf.at[rows].set(value, mode="drop") if leaf.ndim else value

    return jax.tree.map(put, tree, values)
