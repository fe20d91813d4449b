"""Errors of executing statements that a caller may want to tell apart."""

from shardwright.errors import ServerUnavailable, ShardwrightError


class OutcomeUnknown(ShardwrightError):
    """The connection was lost, or a timeout expired, after a write was sent: it may or may not have happened.

    It is not retried. Check whether it happened, or repeat it if it is idempotent.
    """


class TransactionLost(ShardwrightError):
    """The transaction was rolled back although its block ended normally: an error inside was swallowed."""


class DeadlineExceeded(ShardwrightError, TimeoutError):
    """A call did not finish within its deadline, and changed nothing, unless it is a `WriteDeadlineExceeded`.

    `waited_for` is what it was waiting for when the time was over, `waited_s` how long the call had taken, and
    `limit_s` how long it was allowed to take.
    """

    def __init__(
        self, message: str, *, waited_for: str = "", waited_s: float = 0.0, limit_s: float = 0.0
    ) -> None:
        super().__init__(message)
        self.waited_for = waited_for
        self.waited_s = waited_s
        self.limit_s = limit_s


class WriteDeadlineExceeded(DeadlineExceeded, OutcomeUnknown):
    """The deadline passed after a write was sent: it may or may not have happened."""


class NotReplicated(OutcomeUnknown):
    """A transaction asked for `durable="replicated"`, and no synchronous standby has confirmed it.

    `is_committed` says whether the primary has it: then it is lost only if the primary is lost before a standby has it.
    Without a synchronous standby configured nothing was changed.
    """

    def __init__(self, message: str, *, is_committed: bool) -> None:
        super().__init__(message)
        self.is_committed = is_committed


class PartialResult(ShardwrightError):
    """Some servers did not answer, and the caller required complete results."""


class PrimaryElsewhere(ServerUnavailable):
    """The server has become a standby, or read-only: nothing was changed. Its primary is looked for; repeat it."""


class PoolExhausted(ServerUnavailable):
    """No connection became free within `acquire_timeout_s`: all are busy, or none could be opened in time."""
