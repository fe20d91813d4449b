"""Sampled softmax with logQ correction: the loss over all items, estimated from a few of them.

Negatives are drawn with probabilities q. Each stands for 1 / (number drawn * q) items, which is subtracted from its
logit as a logarithm: then the sum over the sample has the sum over all other items as its expectation, and popular
items, which are drawn more often, are not pushed away for it (Bengio and Senecal 2008; Yi et al. 2019).
"""

import jax
import jax.numpy as jnp
from jax import Array


def sampled_softmax(positive: Array, negative: Array, log_expected: Array, is_positive: Array) -> Array:
    """The loss of each row: minus the logarithm of the share that the positive has of the whole.

    `negative` has a row of logits per positive; `log_expected` is log(number drawn * q) of each negative;
    `is_positive` marks negatives that are the positive item itself, which do not count twice.
    """
    corrected = jnp.where(is_positive, -jnp.inf, negative - log_expected[None, :])
    whole = jnp.concatenate([positive[:, None], corrected], axis=1)
    return jax.nn.logsumexp(whole, axis=1) - positive


def sampling_distribution(counts: Array, exponent: float) -> Array:
    """The probability with which each item is drawn as a negative: its popularity, flattened by the exponent."""
    weights = (counts + 1.0) ** exponent
    return weights / weights.sum()
