"""Circuit breaker per server: a server that keeps failing gets no calls for a while.

Callers then fail immediately instead of queueing behind timeouts, and the server can recover. After the cooldown one
call is let through (half-open): success closes the breaker, failure doubles the cooldown.
"""

import time

from shardwright.errors import ServerUnavailable

MAX_COOLDOWN_S = 15.0


class CircuitBreaker:
    """Counts consecutive failures of a server, and refuses calls after too many."""

    __slots__ = (
        "_cooldown_s",
        "_first_cooldown_s",
        "_is_half_open",
        "_max_failures",
        "_server",
        "failures",
        "open_until",
    )

    def __init__(self, server: str, *, max_failures: int, cooldown_s: float) -> None:
        self._server = server
        self._max_failures = max_failures
        self._first_cooldown_s = self._cooldown_s = cooldown_s
        self._is_half_open = False
        self.failures = 0
        self.open_until = 0.0

    @property
    def is_open(self) -> bool:
        """Whether calls are refused now."""
        return self.open_until > time.monotonic()

    def check(self) -> None:
        """Return, or raise `ServerUnavailable` while open; after the cooldown, exactly one call passes."""
        if not self.open_until:
            return
        now = time.monotonic()
        if now < self.open_until:
            raise ServerUnavailable(
                f"server {self._server} failed {self.failures} times in a row; "
                f"the next attempt is in {self.open_until - now:.1f} s"
            )
        self.open_until = now + self._cooldown_s
        self._is_half_open = True

    def record_success(self) -> None:
        """Close the breaker: the server answered."""
        self.failures = 0
        self.open_until = 0.0
        self._is_half_open = False
        self._cooldown_s = self._first_cooldown_s

    def record_failure(self) -> None:
        """Count a failure to reach the server or to get an answer in time; opens the breaker after too many."""
        self.failures += 1
        if self.is_open and not self._is_half_open:
            return  # calls that were in flight when it opened
        if self._is_half_open:
            self._cooldown_s = min(self._cooldown_s * 2, MAX_COOLDOWN_S)
        if self.failures >= self._max_failures:
            self.open_until = time.monotonic() + self._cooldown_s
        self._is_half_open = False
