"""Errors of executing statements that a caller may want to tell apart."""

from shardwright.errors import ShardwrightError


class OutcomeUnknown(ShardwrightError):
    """The connection was lost, or a timeout expired, after a write was sent: it may or may not have happened.

    It is not retried. Check whether it happened, or repeat it if it is idempotent.
    """


class TransactionLost(ShardwrightError):
    """The transaction was rolled back although its block ended normally: an error inside was swallowed."""


class DeadlineExceeded(ShardwrightError, TimeoutError):
    """A read did not finish within its deadline."""


class PartialResult(ShardwrightError):
    """Some servers did not answer, and the caller required complete results."""
