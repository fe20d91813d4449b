"""The ways running a statement can fail that a caller may want to tell apart."""

from shardwright.errors import ShardwrightError


class OutcomeUnknown(ShardwrightError):
    """The connection was lost, or time ran out, after a write was sent: it may or may not have happened.

    Nothing repeats it silently. Look whether it happened, or repeat it if it is safe to repeat.
    """


class TransactionLost(ShardwrightError):
    """The transaction was rolled back although its block ended normally: a failed statement was swallowed."""


class DeadlineExceeded(ShardwrightError, TimeoutError):
    """A read took longer than it may."""


class PartialResult(ShardwrightError):
    """Some servers did not answer, and the caller asked for all of them."""
